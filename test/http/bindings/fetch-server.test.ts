// What a fetch server passes beside a request.
import { randomUUID } from 'node:crypto'
import { gate } from '@gatewright/http'
import { fetchGate } from '@gatewright/http/fetch'
import t from 'tap'
import { createWorld } from './e2e/world.ts'
import { checkedPeer, keepAlive, paramsOf } from '#packages/http/dist/bindings/fetch-server.js'

const request = new Request('http://api.test/')

t.test(
  'takes the address that the server names, `unknown` if it names none, and none on request',
  async t => {
    const peer = checkedPeer<{ ip?: string }>((_request, { ip }) => ip, true)
    t.equal(peer(request, { ip: '192.0.2.1' }), '192.0.2.1')
    for (const env of [{}, { ip: '' }]) t.equal(peer(request, env), 'unknown')
    t.equal(checkedPeer('none', false)(request, undefined), '')
    t.throws(() => checkedPeer('none', true), /peer must be a function with trustProxy/)
    t.throws(() => checkedPeer(undefined as never, false), /or 'none', got undefined:/)
    t.throws(() => checkedPeer('None' as never, false), /or 'none', got "None":/)
  },
)

t.test('hands work to waitUntil, also work that fails, and returns it', async t => {
  const work = Promise.resolve('done')
  t.equal(keepAlive(undefined)(work), work)
  const kept: Promise<unknown>[] = []
  const keep = keepAlive(each => kept.push(each))
  t.equal(keep(work), work)
  t.equal(await kept[0], 'done')
  await t.rejects(keep(Promise.reject(new Error('broken'))), { message: 'broken' })
  t.equal(await kept[1], undefined, 'the runtime gets no rejection')
})

t.test('takes a plain object of texts for path parameters, and nothing else', async t => {
  t.same(paramsOf({ id: '1', none: undefined }), { id: '1' })
  t.same(paramsOf(Object.assign(Object.create(null) as object, { id: '1' })), { id: '1' })
  for (const other of [
    undefined,
    null,
    'id=1',
    7,
    { id: '1', at: 1 },
    { id: ['1'] },
    new (class {
      readonly id = '1'
    })(),
    new Map([['id', '1']]),
  ])
    t.same(paramsOf(other), {})
})

t.test('translates the path of a request once for a whole application', async t => {
  const { gate: api, routes } = await createWorld()
  const bind = fetchGate(api, { body: 'stream', peer: () => '192.0.2.1' })
  const { route, handler } = routes.whoami
  const served = bind.handle(route, handler)
  const app = bind.aliases(async (translated, ...rest) => served(translated, ...(rest as [unknown])))
  const headers = { 'x-consumer-key': 'k' }
  const old = await app(new Request('http://api.test/consumer/v1/whoami?a=1', { headers }), undefined)
  t.match(await old.json(), { path: '/user/v1/whoami', key: 'k' })
  t.equal(old.headers.get('deprecation'), '@1767225600')
  const current = new Request('http://api.test/user/v1/whoami', { headers: { 'x-user-key': 'l' } })
  const passed: Request[] = []
  const watching = bind.aliases(async translated => {
    passed.push(translated)
    return served(translated, undefined)
  })
  t.match(await (await watching(current, undefined)).json(), { key: 'l' })
  t.equal(passed[0], current, 'a request under current names is passed on itself')
})

t.test('reads a body of up to the limit', async t => {
  const api = gate({ bodyLimitBytes: 4 })
  const { handle } = fetchGate(api, { body: 'stream', peer: 'none' })
  const served = handle(api.open('plans.list'), ({ body }) => ({
    status: 200,
    body: Buffer.from(body).toString(),
  }))
  const post = (chunks: readonly string[], length?: number): Promise<Response> => {
    const body = new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(Buffer.from(chunk))
        controller.close()
      },
    })
    const headers: Record<string, string> = length === undefined ? {} : { 'content-length': `${length}` }
    return served(
      new Request('http://api.test/', { method: 'POST', headers, body, duplex: 'half' }),
      undefined,
    )
  }
  for (const chunks of [[], ['abcd'], ['ab', 'cd'], ['a', 'b', 'cd']]) {
    for (const length of [undefined, chunks.join('').length]) {
      const response = await post(chunks, length)
      t.equal(response.status, 200)
      t.equal(await response.text(), chunks.join(''))
    }
  }
  for (const chunks of [['abcde'], ['abcd', 'e'], ['ab', 'cde']])
    for (const length of [undefined, 5]) t.equal((await post(chunks, length)).status, 413)
  t.equal((await post(['ab'], 3)).status, 400)
  t.equal((await post(['ab'], 5)).status, 413, 'it is not read at all')
  const none = gate({ bodyLimitBytes: 0 })
  const empty = fetchGate(none, { body: 'stream', peer: 'none' }).handle(none.open('plans.list'), () => ({
    status: 200,
  }))
  t.equal((await empty(new Request('http://api.test/', { method: 'POST' }), undefined)).status, 200)
})

t.test('sends a response above the limit whole, and replays its status', async t => {
  const { gate: api, routes, bearer } = await createWorld()
  const { path, route } = routes.createCard
  const wrapped = fetchGate(api, { body: 'clone', peer: () => '192.0.2.1' }).wrap(route, () => {
    const parts = ['x'.repeat(api.settings.responseLimitBytes), 'y', 'z'.repeat(1000)]
    return new Response(new Blob(parts).stream().pipeThrough(new TransformStream()), { status: 201 })
  })
  const headers = {
    authorization: await bearer({ scopes: ['cards.write'] }),
    'idempotency-key': randomUUID(),
    'content-type': 'application/json',
  }
  const send = (): Promise<Response> =>
    wrapped(new Request(`http://host${path}`, { method: 'POST', headers, body: '{"name":"a"}' }))
  const whole = await (await send()).text()
  t.equal(whole.length, api.settings.responseLimitBytes + 1001)
  t.match(whole, /xyz+$/)
  const replay = await send()
  t.equal(replay.status, 201)
  t.equal(await replay.text(), '')
})
