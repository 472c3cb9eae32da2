import { randomUUID } from 'node:crypto'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { gatewright, jsonOf } from '../../harness/gatewright.ts'
import { keptHostStoresEnv } from '../../harness/host-stores.ts'
import {
  bearer,
  bootstrapUser,
  newWallet,
  openTestHost,
  startTestHost,
  type HttpResponse,
} from '../../harness/host.ts'
import { moneyUser } from '../harness/money.ts'
import { webToken } from '../harness/web-sign-in.ts'
import { temporaryFolder } from '../../harness/files.ts'

const host = await openTestHost(t)

const get = (token: string, path: string): Promise<HttpResponse> =>
  host.send(`/user/v1/requests${path}`, { headers: bearer(token) })
const listed = async (token: string, query = ''): Promise<Record<string, unknown>[]> => {
  const response = await get(token, query)
  if (response.status !== 200) throw new Error(JSON.stringify(response.body))
  return response.body.data['requests'] as Record<string, unknown>[]
}
/** A session of a new key below that of a session. */
async function keyBelow(token: string, body: object) {
  const made = await host.send('/user/v1/keys', { body, headers: bearer(token) })
  const { userApiKey, userKeyId } = made.body as unknown as Record<string, string>
  const headers = { 'x-user-key': userApiKey as string }
  const minted = await host.send('/user/v1/sessions', { body: {}, headers })
  return { id: userKeyId as string, token: minted.body['sessionToken'] as string }
}

t.test('lists refused requests and writes with the reason, and no reads that succeeded', async t => {
  const { token } = await bootstrapUser(host.send)
  const agent = await keyBelow(token, { label: 'agent', policy: { dailySpendCapCents: 1000 } })
  const money = moneyUser(host.send, { token: agent.token })
  t.equal((await money.write('/subscriptions/payin', { amountCents: 700 })).status, 200)
  const refused = await money.write('/subscriptions/payin', { amountCents: 400 })
  t.equal(refused.status, 403)
  t.equal((await host.send('/user/v1/keys', { headers: bearer(token) })).status, 200)
  const secret = `secret-${randomUUID()}`
  await host.send('/user/v1/keys', {
    body: { scopes: [secret.slice(0, 10)], label: secret },
    headers: bearer(token),
  })

  const found = await listed(token)
  t.same(
    found.map(({ operation, status }) => `${String(operation)} ${String(status)}`),
    [
      'keys.create 400',
      'subscriptions.payin 403',
      'subscriptions.payin 200',
      'sessions.create 200',
      'keys.create 200',
    ],
  )
  t.match(found[1], {
    keyId: agent.id,
    error: 'policy_blocked',
    rule: 'dailySpendCapCents',
    policyKeyId: agent.id,
    message: refused.body.message,
    details: { remaining: 300, requested: 400, limit: 1000 },
  })
  t.notMatch(JSON.stringify(found), secret, 'no body is kept')
  t.notMatch(JSON.stringify(found), token)
  t.match(await listed(token, '?outcome=refused&rule=dailySpendCapCents'), [{ status: 403 }])
  t.match(await listed(token, `?keyId=${agent.id}&outcome=allowed`), [{ status: 200 }, { status: 200 }])
  t.match(await get(token, '?outcome=bad'), { status: 400, body: { field: 'outcome' } })
  const first = await get(token, '?limit=2')
  const second = await get(token, `?limit=9&cursor=${String(first.body.data['nextCursor'])}`)
  t.same((second.body.data['requests'] as unknown[]).length, 4, 'the 400 is one of them')
})

t.test('keeps the sentence that each refusal was sent with', async t => {
  const { token } = await bootstrapUser(host.send)
  const agent = await keyBelow(token, { policy: { denyOperations: ['payments.*'] } })
  const to = { walletAddress: newWallet().address }
  const refused = [
    await moneyUser(host.send, { token }).write('/payments', { to }),
    await moneyUser(host.send, { token }).write('/payments', { to, amountCents: 1, currency: 'EUR' }),
    await moneyUser(host.send, { token }).write('/payments', { to, amountCents: 1 }),
    await host.send('/user/v1/cards/card_none', {
      method: 'PATCH',
      body: { status: 'locked' },
      headers: { ...bearer(token), 'idempotency-key': randomUUID() },
    }),
    await moneyUser(host.send, { token }).write('/bills', {}),
    await moneyUser(host.send, { token: agent.token }).write('/payments', { to, amountCents: 1 }),
    await host.send('/user/v1/keys/none', { method: 'DELETE', headers: bearer(token) }),
    await host.send('/user/v1/keys/none/caps', { headers: bearer(token) }),
    await host.send('/user/v1/transactions?limit=0', { headers: bearer(token) }),
    await host.send('/user/v1/sessions/none', { method: 'DELETE', headers: bearer(token) }),
  ]
  const kept = await listed(token, '?limit=100')
  for (const { status, body, headers } of refused) {
    t.ok(status >= 400, JSON.stringify(body))
    const row = kept.find(({ id }) => id === headers.get('x-request-id'))
    t.equal(row?.['message'], body['message'])
    t.match(row?.['message'], /[.?!]$/)
  }
  t.equal(refused[6]?.body['message'], 'No key has this id.')
  t.equal(refused[7]?.body['message'], 'No key has this id.')
})

t.test('shows a request by the id of its response, with what would be decided now', async t => {
  const { token } = await bootstrapUser(host.send)
  const agent = await keyBelow(token, { policy: { dailySpendCapCents: 1000 } })
  const refused = await moneyUser(host.send, { token: agent.token }).write('/subscriptions/payin', {
    amountCents: 1200,
  })
  const id = refused.headers.get('x-request-id') as string
  t.match(await get(token, `/${id}`), {
    status: 200,
    body: { data: { request: { id, status: 403 }, now: { allowed: false, rule: 'dailySpendCapCents' } } },
  })
  const raised = { method: 'PATCH', body: { policy: { dailySpendCapCents: 5000 } }, headers: bearer(token) }
  t.equal((await host.send(`/user/v1/keys/${agent.id}`, raised)).status, 200)
  t.match((await get(token, `/${id}`)).body.data['now'], { allowed: true, error: null })
  t.match(await listed(token, '?rule=dailySpendCapCents'), [{ id }], 'nothing was counted or kept by looking')
  await host.send(`/user/v1/keys/${agent.id}`, { method: 'DELETE', headers: bearer(token) })
  const ended = {
    allowed: false,
    error: 'unauthorized',
    rule: null,
    message: 'The key has ended: it was revoked.',
  }
  t.same((await get(token, `/${id}`)).body.data['now'], ended)
  t.equal((await get(token, `/${randomUUID()}`)).status, 404)
})

t.test('says of a key that has expired that it is allowed nothing', async t => {
  const clock = manualClock(Date.now())
  const later = await openTestHost(t, {}, clock)
  const owner = await bootstrapUser(later.send, { sessionTtlSeconds: 3600 }, clock.now())
  const made = await later.send('/user/v1/keys', { body: {}, headers: bearer(owner.token) })
  const { userApiKey, userKeyId } = made.body as unknown as Record<string, string>
  const key = { 'x-user-key': userApiKey as string }
  const used = await later.send('/user/v1/sessions', { body: {}, headers: key })
  const rotated = await later.send(`/user/v1/keys/${userKeyId}/rotate`, {
    body: { overlapSeconds: 60 },
    headers: key,
  })
  t.equal(rotated.status, 200)
  const now = async () => {
    const path = `/user/v1/requests/${used.headers.get('x-request-id')}`
    return (await later.send(path, { headers: bearer(owner.token) })).body.data['now']
  }
  clock.advance(59_999)
  t.match(await now(), { allowed: true })
  clock.advance(1)
  t.match(await now(), {
    allowed: false,
    error: 'unauthorized',
    message: 'The key has ended: it has expired.',
  })
})

t.test(
  'keeps no part of a secret that was sent in a wrong place, and any text that clients send',
  async t => {
    const dataDir = temporaryFolder(t)
    const stores = await keptHostStoresEnv()
    t.teardown(() => stores.drop())
    const env = { ...stores.env, DATA_DIR: dataDir, PORT: '0', REQUEST_LOG: 'all' }
    const asked = await startTestHost(env)
    const { token, key } = await bootstrapUser(asked.send)
    const signing = '4c0883a69102937d6231471b5dbb6204fe512961708279f2e3e8a5d4b8e3e8a5'
    let requests = 0
    const send = async (path: string, options: Parameters<typeof asked.send>[1] = {}): Promise<void> => {
      requests += 1
      const { status } = await asked.send(path, options)
      if (status === 404) requests -= 1
    }
    for (const secret of [key, token, `0x${signing}`, 'a\0b']) {
      const text = encodeURIComponent(secret)
      for (const headers of [{}, bearer(token)]) {
        await send('/user/v1/bootstrap', { body: { [secret]: 1 }, headers })
        await send(`/user/v1/bootstrap?${text}=1`, { body: {}, headers })
        await send(`/user/v1/sessions?${text}=1`, { body: { [secret]: secret }, headers })
        await send(`/user/v1/cards?limit=${text}&cursor=${text}`, { headers })
        await send(`/user/v1/cards/${text}`, { headers })
        await send(`/user/v1/${text}`, { headers })
        await send(`/auth/session?a=${text}`, { body: { accessToken: secret }, headers })
        await send('/user/v1/keys', {
          body: { scopes: [secret], label: secret, policy: { [secret]: 1 } },
          headers,
        })
        await send('/user/v1/keys', {
          body: { policy: { denyOperations: [`cards.${secret}`, secret] } },
          headers,
        })
        await send('/user/v1/keys', { body: { policy: { limits: [{ [secret]: secret }] } }, headers })
        await send('/user/v1/payments', {
          body: { to: { [secret]: secret }, amountCents: secret, [secret]: 1 },
          headers: { ...headers, 'idempotency-key': text },
        })
      }
    }
    await asked.close()
    t.same(asked.failures, [])
    const listed = await gatewright(['requests', 'list', '--limit', '1000', '--json'], env)
    const found = jsonOf<unknown[]>(listed)
    t.ok(requests > 60 && found.length >= requests, `${found.length} rows of ${requests} requests`)
    for (const secret of [key.slice(-36), token.split('.')[2] as string, signing])
      for (const part of [secret.slice(0, 17), secret.slice(17, 30), secret.slice(-10)])
        t.notOk(listed.output.includes(part), 'no part of a secret')
  },
)

t.test('a key sees its own requests and those below it, and nobody those of another account', async t => {
  const { token } = await bootstrapUser(host.send)
  const parent = await keyBelow(token, {})
  const child = await keyBelow(parent.token, {})
  const sibling = await keyBelow(token, {})
  for (const by of [parent, child, sibling])
    await host.send('/user/v1/keys', { body: { scopes: ['x'] }, headers: bearer(by.token) })
  const keysOf = async (who: string, query = '') =>
    new Set((await listed(who, `?outcome=refused${query}`)).map(({ keyId }) => keyId))
  t.same(await keysOf(parent.token), new Set([parent.id, child.id]))
  t.same(await keysOf(child.token), new Set([child.id]))
  t.same(await keysOf(child.token, `&keyId=${sibling.id}`), new Set())
  t.same(await keysOf(token), new Set([parent.id, child.id, sibling.id]))
  const [row] = await listed(sibling.token)
  const path = `/${String(row?.['id'])}`
  t.equal((await get(child.token, path)).status, 404)
  const stranger = await bootstrapUser(host.send)
  t.same(await listed(stranger.token), [])
  t.equal((await get(stranger.token, path)).status, 404)
})

t.test('commands list and show the requests of every account, with the exact cause', async t => {
  const dataDir = temporaryFolder(t)
  // The commands run on the stores of the host.
  const stores = await keptHostStoresEnv()
  t.teardown(() => stores.drop())
  const env = { ...stores.env, DATA_DIR: dataDir, PORT: '0' }
  const asked = await startTestHost(env)
  const { token, userId } = await bootstrapUser(asked.send)
  const unknown = await asked.send('/user/v1/cards', { headers: bearer('no-token') })
  const mistaken = await asked.send('/user/v1/keys', { body: { scopes: ['x'] }, headers: bearer(token) })
  await asked.close()
  const run = async (...args: string[]): Promise<unknown> =>
    jsonOf(await gatewright(['requests', ...args, '--json'], env))
  const idOf = ({ headers }: HttpResponse) => headers.get('x-request-id') as string
  t.match(await run('list', '--outcome', 'refused'), [
    { id: idOf(mistaken), error: 'invalid_request', field: 'scopes' },
    { id: idOf(unknown), accountId: null, keyId: null, status: 401, reason: 'not a canonical compact JWS' },
  ])
  t.match(await run('list', '--account', userId, '--limit', '1'), [{ id: idOf(mistaken) }])
  t.match(await run('show', idOf(unknown)), { operation: 'cards.list' })
  t.match(await gatewright(['requests', 'show', 'nothing'], env), {
    code: 1,
    output: /no kept request nothing/,
  })
  t.match(await gatewright(['requests', 'list', '--outcome', 'bad'], env), {
    code: 2,
    output: /must be one of/,
  })
})

t.test('leaves out what a console looks up, unless its key is asked for, and finds it by its id', async t => {
  const wallet = newWallet()
  const opened = await host.send('/auth/console', {
    body: {},
    headers: bearer(await webToken(host.send, wallet)),
  })
  const token = opened.body.data['sessionToken'] as string
  const lookUp = await host.send('/user/v1/transactions?id=Lunch', { headers: bearer(token) })
  t.equal(lookUp.status, 400)
  t.equal((await get(token, '/not-there')).status, 404)
  t.equal((await host.send('/user/v1/keys', { body: { scopes: ['x'] }, headers: bearer(token) })).status, 400)
  const rows = await listed(token)
  t.same(
    rows.map(({ operation, status }) => `${String(operation)} ${String(status)}`),
    ['keys.create 400', 'auth.openConsole 200'],
    'writes of a console are listed',
  )
  t.same(await listed(token, '?outcome=refused'), rows.slice(0, 1))
  const keyId = String(rows[0]?.['keyId'])
  t.equal((await listed(token, `?keyId=${keyId}`)).length, 3)
  const id = lookUp.headers.get('x-request-id')
  t.match(await get(token, `/${id}`), {
    status: 200,
    body: { data: { request: { operation: 'transactions.list' } } },
  })
})

t.test('names what was requested in words, and exports the list that its filters choose', async t => {
  const { token } = await bootstrapUser(host.send)
  const agent = await keyBelow(token, { label: 'agent', policy: { dailySpendCapCents: 1000 } })
  const other = await keyBelow(token, {})
  for (const amountCents of [1100, 1200])
    await moneyUser(host.send, { token: agent.token }).write('/subscriptions/payin', { amountCents })
  await host.send('/user/v1/keys', { body: { scopes: ['x'] }, headers: bearer(other.token) })
  t.same(
    (await listed(token, '?outcome=refused')).map(({ title }) => title),
    ['Create an API key', 'Create a pay-in', 'Create a pay-in'],
  )
  const exported = async (by: string, query: string) => {
    const response = await fetch(`${host.url}/user/v1/requests.csv${query}`, { headers: bearer(by) })
    t.equal(response.status, 200)
    const [head, ...lines] = (await response.text()).trimEnd().split('\r\n')
    t.equal(
      head,
      'id,created_at,method,operation,title,status,error,rule,message,field,requested_cents,key_id,session_id,duration_ms',
    )
    return lines
  }
  const refused = await exported(token, '?operation=subscriptions.payin&outcome=refused')
  t.equal(refused.length, 2)
  t.match(refused[0], /"Create a pay-in",403,"policy_blocked","dailySpendCapCents",/)
  t.match(refused[0], /,1200,/)
  t.equal((await exported(other.token, '?outcome=refused')).length, 1, 'a key exports its own')
  t.same(await exported(other.token, `?keyId=${agent.id}`), [])
  const at = Date.now()
  t.same(await exported(token, `?from=${new Date(at + 60_000).toISOString()}`), [])
  t.match(await get(token, `?from=${new Date(at).toISOString()}&to=${new Date(at - 1).toISOString()}`), {
    status: 400,
  })
})

t.test('reports no failure for any of these requests', async t => t.same(host.failures, []))
