// The operations of a host as tools, by the client of the SDK, in both revisions of the protocol.
import t from 'tap'
import { bearer, bootstrapUser, openTestHost, sessionOf } from '../../../harness/host.ts'
import { keyBelow } from '../../../reference-host/harness/card-payments.ts'
import { newMoneyUser } from '../../../reference-host/harness/money.ts'
import { connected, ERAS, post, saidBy } from './mcp-client.ts'

const host = await openTestHost(t, { RATE_LIMITS: 'off', REQUEST_LOG: 'all' })
const { send, url } = host
const shop = await bootstrapUser(send)
const owner = await newMoneyUser(send)
await owner.fund(100_000)
const balance = async (): Promise<number> => {
  const { body } = await send('/user/v1/balances', { headers: bearer(owner.token) })
  return (body.data['balances'] as [{ availableCents: number }])[0].availableCents
}
const to = { walletAddress: shop.address }

for (const era of ERAS) {
  t.test(`${era}: lists the tools of the scopes of the session, and reads`, async t => {
    const token = await sessionOf(send, owner.key, { scopes: ['balances.read', 'payments.write'] })
    const client = await connected(t, url, token, era)
    const { tools } = await client.listTools()
    t.same(
      tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint, annotations?.idempotentHint]),
      [
        ['balances.read', true, true],
        ['payments.create', false, true],
      ],
    )
    t.same(await client.listTools().then(({ tools: again }) => again), tools, 'in the same order')
    const read = await client.callTool({ name: 'balances.read', arguments: {} })
    t.notOk(read.isError)
    t.match(saidBy(read), {
      summary: `${await balance()} US cents are available.`,
      data: { balances: [{ availableCents: await balance() }] },
    })
    t.same(read.structuredContent, saidBy(read))
  })

  t.test(`${era}: pays once for one intent, whatever the id of the message`, async t => {
    const before = await balance()
    const call = {
      name: 'payments.create',
      arguments: { to, amountCents: 500, intent: `dinner, ${era}` },
    }
    const clients = await Promise.all([1, 2, 3].map(() => connected(t, url, owner.token, era)))
    const results = await Promise.all(clients.map(client => client.callTool(call)))
    const again = await clients[0]!.callTool(call)
    const paid = [...results, again].filter(({ isError }) => !isError)
    t.ok(paid.length > 0)
    for (const result of paid) t.same(saidBy(result), saidBy(again))
    t.equal(await balance(), before - 500)
    const other = await clients[0]!.callTool({
      ...call,
      arguments: { ...call.arguments, amountCents: 501 },
    })
    t.match(saidBy(other), { error: 'idempotency_key_reused', next: /name another intent/ })
    const { intent: _, ...unnamed } = call.arguments
    const none = await clients[0]!.callTool({ ...call, arguments: unnamed })
    t.equal(none.isError, true)
    t.match(saidBy(none), { error: 'idempotency_key_required', message: /^Send the argument intent, or / })
    t.equal(await balance(), before - 500)
  })

  t.test(`${era}: a cap is a result that says what is left`, async t => {
    const token = await sessionOf(send, owner.key, { policy: { maxAuthAmountCents: 900 } })
    const client = await connected(t, url, token, era)
    const call = (amountCents: number, intent: string) =>
      client.callTool({ name: 'payments.create', arguments: { to, amountCents, intent } })
    const denied = await call(901, `a chair, ${era}`)
    t.equal(denied.isError, true)
    t.match(saidBy(denied), {
      error: 'policy_blocked',
      rule: 'maxAuthAmountCents',
      limit: 900,
      requested: 901,
      next: /Tell the person/,
    })
    t.same(denied.structuredContent, saidBy(denied))
    const { body } = await send('/user/v1/payments', {
      headers: { ...bearer(token), 'idempotency-key': `a-chair-${era}`, 'x-open-responses': '1' },
      body: { to, amountCents: 901 },
    })
    const [, called] = body['output'] as [unknown, { readonly output: string }]
    const { requestId, docs, ...wrapped } = JSON.parse(called.output) as Record<string, unknown>
    t.match({ requestId, docs }, { requestId: String, docs: String })
    const { next, ...said } = saidBy(denied)
    t.match(next, String)
    t.same(said, wrapped, 'an Open Responses object says the same')
    t.notOk((await call(900, `a chair, ${era}`)).isError, 'the intent is free again')
  })
}

for (const era of ERAS)
  t.test(
    `${era}: balance, limits and the last requests are resources, of those whose scopes allow them`,
    async t => {
      const policy = { dailySpendCapCents: 5000 }
      const token = await sessionOf(send, owner.key, { policy })
      const client = await connected(t, url, token, era)
      t.same((await client.listResourceTemplates()).resourceTemplates, [])
      const { resources } = await client.listResources()
      t.same(resources.map(({ uri }) => uri).toSorted(), [
        'gatewright://balance',
        'gatewright://limits',
        'gatewright://requests',
      ])
      const read = async (name: string): Promise<Record<string, unknown>> => {
        const { contents } = await client.readResource({ uri: `gatewright://${name}` })
        const [{ text }] = contents as unknown as [{ text: string }]
        return JSON.parse(text) as Record<string, unknown>
      }
      t.match(await read('balance'), { data: { balances: [{ availableCents: await balance() }] } })
      t.match(await read('limits'), { data: { caps: Array } })
      t.match(await read('requests'), { data: { requests: [{ operation: String }] } })
      await t.rejects(client.readResource({ uri: 'gatewright://secrets' }))
      const poor = await connected(
        t,
        url,
        await sessionOf(send, owner.key, { scopes: ['balances.read'] }),
        era,
      )
      t.same(
        (await poor.listResources()).resources.map(({ name }) => name),
        ['balance'],
      )
      const read403 = {
        jsonrpc: '2.0',
        id: 1,
        method: 'resources/read',
        params: { uri: 'gatewright://limits' },
      }
      const denied = await post(url, read403, bearer(await sessionOf(send, owner.key, { scopes: [] })))
      t.equal(denied.status, 403)
      t.match(denied.headers.get('www-authenticate'), /scope="keys.read"/)
    },
  )

t.test('a request log row says that a call came by a tool, and a list of tools is no write', async t => {
  const client = await connected(t, url, owner.token)
  const body = { to, amountCents: 77 }
  await client.callTool({ name: 'payments.create', arguments: { ...body, intent: 'a stamp' } })
  await owner.write('/payments', body)
  const read = await send('/user/v1/requests?operation=payments.create&limit=2', {
    headers: bearer(owner.token),
  })
  t.match(read.body.data['requests'], [
    { byTool: false, status: 200, method: 'POST' },
    { byTool: true, status: 200, method: 'POST' },
  ])
  const writesOnly = await openTestHost(t)
  const other = await bootstrapUser(writesOnly.send)
  await (await connected(t, writesOnly.url, other.token)).listTools()
  const kept = await writesOnly.send('/user/v1/requests', { headers: bearer(other.token) })
  t.same(
    (kept.body.data['requests'] as { operation: string }[]).filter(({ operation }) => operation === 'mcp'),
    [],
  )
})

t.test('messages that call no tool are limited by key, together with calls', async t => {
  const limited = await openTestHost(t, { RATE_LIMITS: '{"guardedPerKeyPerMinute":3}' })
  const { token } = await bootstrapUser(limited.send)
  const list = () => post(limited.url, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, bearer(token))
  for (let count = 0; count < 3; count += 1) t.equal((await list()).status, 200)
  const denied = await list()
  t.equal(denied.status, 429)
  t.ok(denied.headers.get('retry-after'))
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'balances.read', arguments: {} },
  }
  t.match(await (await post(limited.url, call, bearer(token))).text(), /rate_limited.*Wait retryAfterSeconds/)
})

t.test('says how to get a session, and takes a key where the host takes it in place of one', async t => {
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const refused = await post(url, list, bearer(owner.key))
  t.equal(refused.status, 401)
  t.match(await refused.json(), { message: /^This is an API key, not a session token\. Send the user key/ })
  const direct = await openTestHost(t, { DIRECT_USER_KEY: 'on' })
  const { key } = await bootstrapUser(direct.send)
  const client = await connected(t, direct.url, key)
  t.match(saidBy(await client.callTool({ name: 'balances.read', arguments: {} })), {
    data: { balances: Array },
  })
  const wrong = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')
  t.equal((await post(direct.url, list, bearer(wrong))).status, 401)
})

t.test('the record of a call is that of the request of the HTTP API', async t => {
  const client = await connected(t, url, owner.token)
  const body = { to, amountCents: 123 }
  const key = 'one-key-for-both-ways'
  const before = await balance()
  const made = await send('/user/v1/payments', {
    body,
    headers: { ...bearer(owner.token), 'idempotency-key': key },
  })
  t.equal(made.status, 200)
  const repeated = await client.callTool({
    name: 'payments.create',
    arguments: body,
    _meta: { 'idempotency-key': key },
  })
  t.same(saidBy(repeated), { summary: made.body['summary'], data: made.body.data })
  t.equal(await balance(), before - 123)
  const [byTool, byHttp] = host.decisions
    .filter(({ operation }) => operation === 'payments.create')
    .toReversed()
  t.match(byTool, { byTool: true, replayed: true })
  t.match(byHttp, { byTool: false, replayed: false })
  const same = [
    'method',
    'route',
    'credential',
    'accountId',
    'keyId',
    'policyRevision',
    'status',
    'effectId',
  ] as const
  for (const name of same) t.same(byTool?.[name], byHttp?.[name], name)
})

t.test('a token that does not suffice is a challenge for the client', async t => {
  const metadata = 'resource_metadata="http://127.0.0.1:0/.well-known/oauth-protected-resource/mcp"'
  const document = await fetch(`${url}/.well-known/oauth-protected-resource/mcp`)
  t.same(await document.json(), {
    resource: 'http://127.0.0.1:0/mcp',
    bearer_methods_supported: ['header'],
  })
  for (const [method, status] of [
    ['HEAD', 200],
    ['POST', 405],
  ] as const)
    t.equal((await fetch(document.url, { method })).status, status, method)
  const none = await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, {})
  t.equal(none.status, 401)
  t.match(none.headers.get('www-authenticate'), metadata)
  const token = await sessionOf(send, owner.key, { scopes: ['balances.read'] })
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'payments.create', arguments: { to, amountCents: 1, intent: 'x' } },
  }
  const denied = await post(url, call, bearer(token))
  t.equal(denied.status, 403)
  const challenge = denied.headers.get('www-authenticate') ?? ''
  t.match(challenge, /error="insufficient_scope"/)
  t.match(challenge, /scope="payments.write"/)
  t.match(challenge, metadata)
})

t.test('what is no message of the protocol is refused', async t => {
  const headers = bearer(owner.token)
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  t.equal((await post(url, [list, list], headers)).status, 400)
  t.equal((await post(url, 'no JSON', headers)).status, 400)
  for (const name of [{ toString: 1 }, '__proto__', null, 1]) {
    const odd = await post(url, { ...list, method: 'tools/call', params: { name, arguments: null } }, headers)
    t.ok(odd.status < 500, `${odd.status}`)
    t.match(await odd.text(), /"code":-32/)
  }
  const longer = {
    ...list,
    method: 'tools/call',
    params: { name: 'cards.read', arguments: { cardId: 'a/../b' } },
  }
  t.match(await (await post(url, longer, headers)).text(), /not_found/)
  t.equal((await post(url, list, { ...headers, origin: 'https://evil.example' })).status, 403)
  t.equal((await post(url, list, { ...headers, origin: 'http://localhost:6274' })).status, 200)
  for (const method of ['GET', 'DELETE']) {
    const response = await fetch(`${url}/mcp`, { method, headers })
    t.equal(response.status, 405, method)
    t.equal(response.headers.get('allow'), 'POST, OPTIONS')
  }
  const client = await connected(t, url, owner.token)
  await t.rejects(client.callTool({ name: 'cards.reveal', arguments: { cardId: 'x' } }), {
    message: /No tool has the name cards.reveal/,
  })
  t.match(saidBy(await client.callTool({ name: 'cards.read', arguments: {} })), {
    error: 'invalid_request',
    field: 'cardId',
  })
})

t.test('a host that other machines reach without HTTPS serves tools, too, and names no metadata', async t => {
  const open = await openTestHost(t, { PUBLIC_URL: 'http://pay.internal:3000' })
  const none = await post(open.url, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, {})
  t.equal(none.status, 401)
  t.notMatch(none.headers.get('www-authenticate'), 'resource_metadata')
  const off = await openTestHost(t, { MCP: 'off' })
  t.equal((await post(off.url, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, {})).status, 404)
})

t.test(
  'a payment that waits opens the page of approvals, and is made once its owner has approved',
  async t => {
    const agent = await keyBelow(send, owner.token, { approveAboveCents: 5000 })
    const before = await balance()
    const pages: unknown[] = []
    let approves = false
    const client = await connected(t, url, agent.token, 'auto', async page => {
      pages.push(page)
      if (!approves) return
      const { body } = await send('/user/v1/approvals', { headers: bearer(owner.token) })
      const [{ id }] = body.data['approvals'] as [{ id: string }]
      await send(`/user/v1/approvals/${id}/approve`, { body: {}, headers: bearer(owner.token) })
    })
    const call = { name: 'payments.create', arguments: { to, amountCents: 6000, intent: 'rent of May' } }
    t.match(
      saidBy(await client.callTool(call)),
      { error: 'approval_required' },
      'it was opened, not approved',
    )
    t.match(pages, [
      {
        mode: 'url',
        url: /^http.*\/helper#\/approvals$/,
        message: /^A payment of 60\.00 USD to .* waits until/,
      },
    ])
    approves = true
    t.notOk((await client.callTool(call)).isError)
    t.equal(pages.length, 2)
    t.equal(await balance(), before - 6000)
    const legacy = await connected(t, url, agent.token, 'legacy', async page => void pages.push(page))
    const other = { ...call, arguments: { ...call.arguments, intent: 'rent of June' } }
    t.match(saidBy(await legacy.callTool(other)), { error: 'approval_required', approveUrl: /#\/approvals$/ })
    t.equal(pages.length, 2)
  },
)
