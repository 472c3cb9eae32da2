import { once } from 'node:events'
import t from 'tap'
import { call, legacy, modern, openBridge, startShop } from './bridged-shop.ts'

const pay = (id: unknown, orderId: string, amountCents = 100, meta?: object): object =>
  call(id, 'payments.create', { orderId, amountCents }, meta)

t.test('passes messages of 2026-07-28 on with their header fields, and answers each in one line', async t => {
  const shop = await startShop(t)
  const bridge = openBridge(t, shop.url)
  bridge.write(modern('list', 'tools/list'))
  const { result } = await bridge.answer('list')
  t.same(
    (result?.['tools'] as { name: string }[]).map(({ name }) => name),
    ['payments.create', 'payments.read', 'tips.create'],
  )
  bridge.write(pay(2, 'order-1'))
  t.match((await bridge.answer(2)).result, { content: [{ text: /^paid / }] })
  t.match(shop.received[0]?.headers, {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/list',
    'mcp-name': undefined,
    accept: 'application/json, text/event-stream',
  })
  t.match(shop.received[1]?.headers, { 'mcp-method': 'tools/call', 'mcp-name': 'payments.create' })
  t.equal(shop.received[1]?.body, JSON.stringify(pay(2, 'order-1')), 'the bytes of the client')
  bridge.write(call(3, 'größe', {}))
  t.match((await bridge.answer(3)).error, { code: -32602 })
  t.equal(shop.received[2]?.headers['mcp-name'], `=?base64?${Buffer.from('größe').toString('base64')}?=`)
  t.equal(shop.exchanges, 1)
  t.ok(bridge.lines.every(line => !line.includes('\n')))
})

t.test('passes messages of 2025-11-25 on with the version that initialize agreed on', async t => {
  const shop = await startShop(t)
  const bridge = openBridge(t, shop.url)
  const clientInfo = { name: 'agent', version: '1' }
  bridge.write(legacy(0, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }))
  t.match((await bridge.answer(0)).result, { protocolVersion: '2025-11-25' })
  bridge.write({ jsonrpc: '2.0', method: 'notifications/initialized' })
  bridge.write(
    legacy(1, 'tools/call', { name: 'payments.create', arguments: { orderId: 'o', amountCents: 1 } }),
  )
  t.match((await bridge.answer(1)).result, { content: [{ text: /^paid / }] })
  await bridge.close()
  const [first, ...others] = shop.received.map(({ headers }) => headers)
  t.notOk(first?.['mcp-protocol-version'])
  t.equal(others.length, 2)
  for (const headers of others)
    t.match(headers, { 'mcp-protocol-version': '2025-11-25', 'mcp-method': undefined })
  t.equal(bridge.lines.length, 2, 'a notification has no answer')
  t.same(bridge.reports, [])
})

t.test('adds no idempotency key: a call without an intent is denied, and says what to send', async t => {
  const shop = await startShop(t)
  const bridge = openBridge(t, shop.url)
  bridge.write(call(1, 'tips.create', { amountCents: 5 }))
  t.match((await bridge.answer(1)).result, {
    isError: true,
    content: [{ text: /_meta\[\\"idempotency-key\\"\]/ }],
  })
  bridge.write(call(2, 'tips.create', { amountCents: 5 }, { 'idempotency-key': 'tip-of-june' }))
  const { result } = await bridge.answer(2)
  bridge.write(call(3, 'tips.create', { amountCents: 5 }, { 'idempotency-key': 'tip-of-june' }))
  t.same((await bridge.answer(3)).result, result)
  t.equal(shop.world.processor.calls.length, 1)
})

t.test('passes the denial at a cap on as a result that a model can read', async t => {
  const shop = await startShop(t)
  const bridge = openBridge(t, shop.url)
  for (const n of [1, 2]) bridge.write(pay(n, `order-${n}`, 4_000))
  await Promise.all([bridge.answer(1), bridge.answer(2)])
  bridge.write(pay(3, 'order-3', 4_000))
  const { result } = await bridge.answer(3)
  t.equal(result?.isError, true)
  t.match(JSON.parse(result?.content?.[0]?.text ?? ''), {
    error: 'policy_blocked',
    rule: 'dailySpendCapCents',
    remaining: 2_000,
    requested: 4_000,
    next: String,
  })
})

t.test('two requests at once share one exchange, and each gets its own answer', async t => {
  const shop = await startShop(t)
  const bridge = openBridge(t, shop.url)
  bridge.write(`${JSON.stringify(pay('a', 'o-a'))}\n${JSON.stringify(pay('b', 'o-b'))}\n`)
  const [a, b] = await Promise.all([bridge.answer('a'), bridge.answer('b')])
  t.not(a.result?.content?.[0]?.text, b.result?.content?.[0]?.text)
  t.equal(shop.exchanges, 1)
  t.equal(shop.world.processor.calls.length, 2)
})

t.test('a session that the host does not take is renewed, and its message sent again once', async t => {
  const shop = await startShop(t)
  const bridge = openBridge(t, shop.url)
  bridge.write(pay(1, 'order-1'))
  await bridge.answer(1)
  shop.world.options.clock.advance(16 * 60_000)
  bridge.write(pay(2, 'order-2'))
  bridge.write(pay(3, 'order-3'))
  for (const id of [2, 3]) t.notOk((await bridge.answer(id)).result?.isError)
  t.equal(shop.exchanges, 2, 'one for both')
  t.equal(shop.world.processor.calls.length, 3)

  let denied = 0
  shop.instead = (request, response) => {
    if (request.url !== '/mcp') return false
    denied += 1
    response.writeHead(401, { 'content-type': 'application/json' })
    response.end('{"success":false,"error":"unauthorized","message":"No"}')
    return true
  }
  bridge.write(pay(4, 'order-4'))
  t.match((await bridge.answer(4)).error, {
    code: 401,
    message: /answers 401: No/,
    data: { error: 'unauthorized' },
  })
  t.equal(denied, 2, 'no loop')
})

t.test('a key that is denied is an error that says what to do, and the bridge goes on', async t => {
  const shop = await startShop(t)
  const bridge = openBridge(t, shop.url, 'gw_secret')
  shop.scopes = ''
  bridge.write(modern(1, 'tools/list'))
  const { error } = await bridge.answer(1)
  t.match(error, {
    code: 401,
    message: /does not take the key: The key is revoked.* npx gatewright login http:/,
  })
  shop.scopes = 'payments.read'
  bridge.write(modern(2, 'tools/list'))
  t.ok((await bridge.answer(2)).result)
  t.notMatch(bridge.lines.join('') + bridge.reports.join(''), 'gw_secret')
})

t.test('a key or a token that no header field can carry is shown nowhere', async t => {
  const shop = await startShop(t)
  const bridge = openBridge(t, shop.url, 'gw_secret\nkey')
  bridge.write(modern(1, 'tools/list'))
  t.match((await bridge.answer(1)).error, { code: 401, message: /characters that no API key has/ })
  shop.instead = (request, response) => {
    if (request.url === '/mcp') return false
    response.end('{"data":{"sessionToken":"gw_secret\\ntoken","expiresAt":"2026-01-01T00:00:00Z"}}')
    return true
  }
  const other = openBridge(t, shop.url)
  other.write(modern(1, 'tools/list'))
  t.match((await other.answer(1)).error, {
    code: 401,
    message: /a session token that no header field can carry/,
  })
  for (const { lines, reports } of [bridge, other]) t.notMatch(lines.join('') + reports.join(''), 'gw_secret')
})

t.test('a scope that the key lacks is named with what gives it', async t => {
  const shop = await startShop(t)
  const bridge = openBridge(t, shop.url)
  shop.scopes = 'payments.read'
  bridge.write(pay(1, 'order-1'))
  const { error } = await bridge.answer(1)
  t.match(error, {
    code: 403,
    data: {
      error: 'insufficient_scope',
      scope: 'payments.write',
      next: `ask ${shop.url} for payments.write`,
    },
  })
  t.match(error?.message, /lacks a scope of payments\.write\. Tell the person: ask /)
  shop.scopes = 'payments.read payments.write'
  bridge.write(pay(2, 'order-1'))
  t.notOk((await bridge.answer(2)).result?.isError, 'the next call has the new scopes')
})

t.test('a line that is no message is an error, and the next one is handled', async t => {
  const shop = await startShop(t)
  const bridge = openBridge(t, shop.url)
  for (const line of [
    'no JSON',
    '[]',
    'null',
    '{"jsonrpc":"2.0","id":{},"method":"ping"}',
    '{"id":1,"method":"ping"}',
  ]) {
    bridge.write(`${line}\n`)
    t.match((await bridge.answer(null)).error, { code: -32600, message: /is not one JSON-RPC message/ }, line)
  }
  bridge.write(`${'x'.repeat(10_000_001)}\n`)
  t.match((await bridge.answer(null)).error, { code: -32600, message: /is longer than 10000000 bytes/ })
  bridge.write('\r\n \n')
  bridge.write(modern(1, 'tools/list'))
  t.ok((await bridge.answer(1)).result)
  t.equal(shop.received.length, 1)
})

t.test('a message of 300 kB is passed on, and the denial of the host has its id', async t => {
  const shop = await startShop(t)
  const bridge = openBridge(t, shop.url)
  bridge.write(call(1, 'payments.create', { orderId: 'o', amountCents: 1, note: 'x'.repeat(300_000) }))
  t.match(await bridge.answer(1), { error: { code: Number, message: /large|bytes/ } })
  bridge.write(modern(2, 'tools/list'))
  t.ok((await bridge.answer(2)).result)
})

t.test('a host that is down: the message is sent when the host is there', async t => {
  const shop = await startShop(t)
  const bridge = openBridge(t, shop.url)
  bridge.write(modern(0, 'tools/list'))
  await bridge.answer(0)
  await shop.stop()
  bridge.write(pay(1, 'order-1'))
  await bridge.reported(/does not answer: .*\. Trying again\.$/)
  await shop.start()
  t.notOk((await bridge.answer(1)).result?.isError)
  t.match(bridge.reports.at(-1), / answers again\.$/)
  t.equal(shop.world.processor.calls.length, 1)
})

t.test('a response that breaks off: a call is repeated only if its tool says that it may be', async t => {
  const shop = await startShop(t)
  const bridge = openBridge(t, shop.url)
  let cuts = 0
  const cutOnce = (): void => {
    cuts = 0
    shop.instead = (request, response) => {
      if (request.url !== '/mcp' || cuts > 0) return false
      cuts += 1
      const end = response.end.bind(response)
      // The server has done its work when its response breaks off.
      response.write = (() => true) as never
      response.end = ((): unknown => (end(() => {}), response.destroy())) as never
      return false
    }
  }
  cutOnce()
  bridge.write(pay(1, 'order-1'))
  const { error } = await bridge.answer(1)
  t.match(error, {
    code: 503,
    data: { error: 'outcome_unknown' },
    message: /not known whether payments\.create took effect/,
  })
  shop.instead = () => false
  bridge.write(modern(2, 'tools/list'))
  await bridge.answer(2)
  cutOnce()
  bridge.write(pay('three', 'order-3', 100, { 'idempotency-key': 'of-three' }))
  const { result } = await bridge.answer('three')
  t.match(result, { content: [{ text: /^paid / }] })
  const [first, second] = shop.received
    .slice(-2)
    .map(({ body }) => JSON.parse(body) as { id: unknown; params: unknown })
  t.equal(first?.id, 'three')
  t.not(second?.id, 'three', 'a repeat has another id')
  t.same(second?.params, first?.params, 'and the same intent')
  bridge.write(pay(4, 'order-1'))
  t.notOk((await bridge.answer(4)).result?.isError, 'the client repeats the first call')
  t.equal(shop.world.processor.calls.length, 2)
})

t.test('a call that the client cancels gets no answer, and what the host has begun ends', async t => {
  let began: () => void = () => {}
  let goOn: () => void = () => {}
  const started = new Promise<void>(resolve => {
    began = resolve
  })
  const going = new Promise<void>(resolve => {
    goOn = resolve
  })
  const shop = await startShop(t, {
    async before() {
      began()
      await going
    },
  })
  const bridge = openBridge(t, shop.url)
  let left: Promise<unknown> | undefined
  shop.instead = (request, response) => {
    if (request.url === '/mcp') left ??= once(response, 'close')
    return false
  }
  bridge.write(pay(1, 'order-1'))
  await started
  bridge.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
  await left
  bridge.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'unknown' } })
  goOn()
  bridge.write(pay(2, 'order-1'))
  t.ok((await bridge.answer(2)).result)
  t.equal(bridge.lines.length, 1)
  t.equal(shop.world.processor.calls.length, 1)
  t.equal(shop.received.length, 2, 'the notification was for the bridge')
})

t.test('requests under way are answered after the client has closed its end', async t => {
  const shop = await startShop(t)
  const bridge = openBridge(t, shop.url)
  bridge.write(pay(1, 'order-1'))
  bridge.write(JSON.stringify(modern(2, 'tools/list')))
  await bridge.close()
  t.equal(bridge.lines.length, 2)
})

t.test('a subscription passes notifications on, and ends with the client', async t => {
  const shop = await startShop(t)
  const bridge = openBridge(t, shop.url)
  bridge.write(modern('s', 'subscriptions/listen', { notifications: { toolsListChanged: true } }))
  while (bridge.lines.length === 0) await new Promise(resolve => setImmediate(resolve))
  t.match(JSON.parse(bridge.lines[0] as string), { method: 'notifications/subscriptions/acknowledged' })
  await bridge.close()
  t.equal(bridge.lines.length, 1)
})

t.test('a host that answers anything is an error of the request, in one line', async t => {
  const shop = await startShop(t)
  const bridge = openBridge(t, shop.url)
  const json = 'application/json'
  const sse = 'text/event-stream'
  const own = '{"jsonrpc":"2.0",\n"id":1,"result":{}}'
  const answers = [
    [200, json, '', { code: 200 }],
    [202, json, '', { code: 202 }],
    [200, json, '<html>', { code: 200 }],
    [200, json, '{"jsonrpc":"2.0","id":7,"result":{}}', { code: 200 }],
    [400, json, '{"jsonrpc":"2.0","id":null,"error":{"code":-32020,"message":"x"}}', { code: -32020 }],
    [400, json, '{"jsonrpc":"2.0","error":{"code":-32022,"message":"x"}}', { code: -32022 }],
    [308, json, '', { code: 308 }],
    [404, 'text/html', '<html>', { code: 404, message: /MCP=on/ }],
    [
      429,
      json,
      '{"error":"rate_limited","message":"Slow\\u001b[2J"}',
      { code: 429, message: /Slow\\u001b\[2J/ },
    ],
    [200, json, own, undefined],
    [
      200,
      sse,
      `: hello\r\n\r\nevent: message\r\ndata: {"jsonrpc":"2.0",\r\ndata:"id":1,"result":{}}\r\n\r\n`,
      undefined,
    ],
    [200, sse, `data: nonsense\n\ndata: []\n\ndata\n\ndata: ${own.replace('\n', '')}\n\n`, undefined],
  ] as const
  for (const [status, type, body, expected] of answers) {
    shop.instead = (request, response) => {
      if (request.url !== '/mcp') return false
      response.writeHead(status, { 'content-type': type }).end(body)
      return true
    }
    bridge.write(pay(1, 'order-1'))
    const answer = await bridge.answer(1)
    t.notMatch(bridge.lines.at(-1), '\n')
    if (expected) t.match(answer.error, expected, body)
    else t.same(answer.result, {}, body)
  }
})

t.test('an output that cannot be written ends the bridge', async t => {
  const { runBridge } = await import('#packages/reference-host/dist/cli/mcp/bridge.js')
  const { PassThrough } = await import('node:stream')
  const input = new PassThrough()
  const ended = runBridge(input, {
    sessions: undefined as never,
    write: async () => {
      throw new Error('gone')
    },
    report: () => {},
    grant: () => '',
  })
  input.write('x\n')
  await t.rejects(ended, { message: 'gone' })
})
