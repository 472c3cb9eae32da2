// How each binding ends a request that its framework or its handler does not end as usual.
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { scopeCatalogue } from '@gatewright/kernel'
import { gate, type Decision, type IdempotencyPort } from '@gatewright/http'
import type { Failure, OpenGateOptions } from '#packages/http/dist/options.js'
import { expressGate } from '@gatewright/http/express'
import { fetchGate } from '@gatewright/http/fetch'
import { koaGate } from '@gatewright/http/koa'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { createAliases } from '@gatewright/legacy-alias-router'
import Koa from 'koa'
import t from 'tap'
import { bench } from '../../scope-guard/issuer.ts'
import { listen } from '../../harness/listen.ts'

const rule = { operation: 'cards.create', allOf: ['cards.write'] } as const
const aliases = createAliases({
  prefixes: [{ from: '/old', to: '/new', mode: { deprecatedSince: Date.UTC(2026, 0, 1) } }],
})

async function setUp(options: OpenGateOptions = {}, port: Partial<IdempotencyPort> = {}) {
  const { guard, bearer } = await bench()
  const [decisions, failures]: [Decision[], Failure[]] = [[], []]
  const completed: { status: number }[] = []
  const inner = createIdempotency({ storage: memoryIdempotency(), waitMs: 0 }) as IdempotencyPort
  const api = gate({
    guard,
    scopes: scopeCatalogue(['cards.write']),
    idempotency: {
      ...inner,
      async complete(claim, output, undo) {
        await setImmediate()
        completed.push(output)
        return inner.complete(claim, output, undo)
      },
      ...port,
    },
    observe: decision => decisions.push(decision),
    report: failure => failures.push(failure),
    ...options,
  })
  const headers = {
    authorization: await bearer(),
    'content-type': 'application/json',
    'idempotency-key': 'key-00000001',
  }
  return { api, decisions, failures, completed, headers }
}

/** A request of Node with a JSON body, and its response, on no connection. */
function exchange(headers: Record<string, string>, url = '/new?a=1', body = '{}') {
  const request = new IncomingMessage(new Socket())
  Object.assign(request, { method: 'POST', url, headers: { ...headers, 'content-length': `${body.length}` } })
  request.push(body)
  request.push(null)
  const response = new ServerResponse(request)
  /** Waits until the response has ended, for some turns. */
  const ended = async (): Promise<void> => {
    for (let turns = 0; turns < 200 && !response.writableEnded; turns++) await setImmediate()
  }
  return { request: request as IncomingMessage & { originalUrl?: string }, response, ended }
}

t.test('Express: emits the event of a handler without a record when its response closes', async t => {
  const { api, decisions, headers } = await setUp()
  const guard = expressGate(api, { body: 'stream' }).guard(api.guarded(rule))
  const { request, response, ended } = exchange(headers)
  guard(request, response, () => {
    response.statusCode = 202
    response.end()
  })
  await ended()
  t.same(decisions, [], 'not before')
  response.emit('close')
  t.match(decisions, [{ operation: 'cards.create', status: 202 }])
})

t.test('Express: emits the event at once if the client has left before the handler', async t => {
  const { api, decisions, headers } = await setUp()
  const guard = expressGate(api, { body: 'stream' }).guard(api.guarded(rule))
  const { request, response } = exchange(headers)
  const passed = new Promise<void>(resolve => {
    guard(request, response, () => resolve())
  })
  response.emit('close')
  await passed
  await setImmediate()
  t.match(decisions, [{ operation: 'cards.create' }])
})

t.test('Express: a handler that throws synchronously gets the response of the gate', async t => {
  for (const idempotent of [true, false]) {
    const { api, decisions, failures, completed, headers } = await setUp()
    const route = idempotent ? api.idempotent(rule) : api.guarded(rule)
    const guard = expressGate(api, { body: 'stream' }).guard(route)
    const { request, response, ended } = exchange(headers)
    guard(request, response, () => {
      throw new Error('thrown')
    })
    await ended()
    t.equal(response.statusCode, 500)
    t.match(failures, [{ operation: 'cards.create', error: { message: 'thrown' } }])
    t.match(completed, idempotent ? [{ status: 500 }] : [])
    t.equal(decisions.length, 1)
    t.match(decisions, [{ status: 500, failure: { message: 'thrown' } }])
  }
})

t.test('Express: a response that cannot be sent becomes a bare 500, and is reported', async t => {
  const render = () => ({ status: 200, headers: [['x', 'a\nb']] as const, body: 'b' })
  const { api, failures, headers } = await setUp({ render })
  const { handle, guard } = expressGate(api, { body: 'stream' })
  for (const mounted of [
    handle(api.open('plans.list'), () => ({ status: 200 })),
    (request: never, response: never) => guard(api.idempotent(rule))(request, response, () => {}),
  ]) {
    failures.length = 0
    const { authorization: _none, ...others } = headers
    const { request, response, ended } = exchange(others)
    mounted(request as never, response as never)
    await ended()
    t.match(response, { statusCode: 500, writableEnded: true })
    t.match(failures, [{ error: { code: 'ERR_INVALID_CHAR' } }])
  }
  failures.length = 0
  const { request, response, ended } = exchange(headers)
  const served = handle(api.open('plans.list'), () => {
    response.writeHead(204).end()
    return { status: 200 }
  })
  served(request, response)
  await ended()
  await setImmediate()
  t.equal(response.statusCode, 204, 'one that was sent stays')
})

t.test('Express: translates the path of a request with its query, and leaves current ones', async t => {
  const { api } = await setUp({ aliases })
  const { aliases: translate } = expressGate(api, { body: 'stream' })
  for (const [url, translated, original] of [
    ['/old?a=1', '/new?a=1', '/old?a=1'],
    ['/new?a=1', '/new?a=1', undefined],
  ] as const) {
    const { request, response } = exchange({}, url)
    let passed = false
    translate(request, response, () => (passed = true))
    t.ok(passed)
    t.same([request.url, request.originalUrl], [translated, original])
  }
  const below = exchange({})
  Object.assign(below.request, { baseUrl: '/api' })
  t.throws(() => translate(below.request, below.response, () => {}), /below \/api/)
  const invalid = exchange({}, '*')
  translate(invalid.request, invalid.response, () => t.fail('passed'))
  t.equal(invalid.response.statusCode, 400)
})

t.test('Koa: translates paths, responds for the rest, and sends no field that it cannot', async t => {
  const { api, decisions } = await setUp({ aliases })
  const bind = koaGate(api, { body: 'stream' })
  const app = new Koa()
  app.silent = true
  app.use(bind.aliases)
  app.use((ctx, next) => {
    if (ctx.path !== '/new') return next()
    ctx.body = `${ctx.path}${ctx.search}`
    return undefined
  })
  const otherwise = bind.otherwise as unknown as (ctx: unknown, outcome: unknown) => Promise<void>
  app.use(async ctx =>
    otherwise(ctx, ({ path }: { path: string }) => ({
      kind: 'denial',
      denial: { ok: false, code: 'not_found', status: 404, message: path },
    })),
  )
  const url = await listen(t, createServer(app.callback()))
  const get = async (path: string): Promise<string> => {
    const response = await fetch(url + path)
    return `${response.status} ${await response.text()}`
  }
  t.equal(await get('/old?a=1'), '200 /new?a=1')
  t.equal(await get('/new?a=1'), '200 /new?a=1')
  t.match(await get('/old/none'), /^404 .*"message":"\/new\/none"/)
  t.match(decisions, [{ status: 404, code: 'not_found', aliases: [String] }])
})

t.test('Koa: aliases refuse to be mounted below a path', async t => {
  const { api } = await setUp({ aliases })
  const { aliases: translate } = koaGate(api, { body: 'stream' })
  const context = (mountPath: string | undefined, url: string, originalUrl: string) => {
    const { request, response } = exchange({}, url)
    return {
      mountPath,
      req: request,
      res: response,
      originalUrl,
      path: '/new',
      set: () => {},
      status: 0,
    } as never
  }
  const passes = async (ctx: never): Promise<boolean> => {
    let passed = false
    await translate(ctx, async () => void (passed = true))
    return passed
  }
  t.equal(await passes(context(undefined, '/new', '/new')), true)
  t.equal(await passes(context(undefined, '/new', '/api/new')), true, 'rewritten, but not mounted')
  t.equal(await passes(context('/api', '/new?a', '/new?b')), true, 'mounted before, and restored')
  await t.rejects(passes(context('/api', '/new', '/api/new')), /not below \/api/)
})

t.test(
  'fetch: the outcome is unknown, with a 500, before the error of a handler reaches the server',
  async t => {
    const { api, decisions, completed, headers } = await setUp()
    const { wrap } = fetchGate(api, { body: 'clone', peer: 'none' })
    const served = wrap(api.idempotent(rule), () => {
      throw new Error('thrown')
    })
    const request = new Request('http://api.test/new', { method: 'POST', headers, body: '{}' })
    await t.rejects(served(request, undefined), { message: 'thrown' })
    t.match(completed, [{ status: 500 }])
    t.match(decisions, [{ status: 500 }])
  },
)

t.test('fetch: emits the event of a handler without a record, and keeps its response', async t => {
  const { api, decisions, headers } = await setUp()
  const { wrap } = fetchGate(api, { body: 'clone', peer: 'none' })
  const own = new Response('own', { status: 202 })
  const request = new Request('http://api.test/new', { method: 'POST', headers, body: '{}' })
  t.equal(await wrap(api.guarded(rule), () => own)(request, undefined), own)
  t.match(decisions, [{ operation: 'cards.create', status: 202 }])
})

t.test('fetch: records bodies of any length, and denies a body that is not JSON', async t => {
  for (const [status, body] of [
    [204, null],
    [201, ''],
    [201, '7'],
    [201, '77'],
  ] as const) {
    const { api, headers } = await setUp()
    const { wrap } = fetchGate(api, { body: 'clone', peer: 'none' })
    const served = wrap(
      api.idempotent(rule),
      () => new Response(body, { status, headers: { location: '/a' } }),
    )
    for (const replayed of [null, 'true']) {
      const request = new Request('http://api.test/new', { method: 'POST', headers, body: '{}' })
      const response = await served(request, undefined)
      t.equal(response.status, status)
      t.equal(await response.text(), body ?? '')
      t.equal(response.headers.get('location'), '/a')
      t.equal(response.headers.get('idempotency-replayed'), replayed)
      t.match(response.headers.get('idempotency-expires'), / GMT$/)
    }
    const invalid = new Request('http://api.test/new', { method: 'POST', headers, body: '{' })
    t.match(await (await served(invalid, undefined)).json(), { error: 'invalid_request', field: 'body' })
  }
})

t.test('fetch: a translated request is still the same request', async t => {
  const { api, decisions } = await setUp({ aliases })
  const bind = fetchGate(api, { body: 'stream', peer: 'none' })
  const served = bind.handle(api.open('plans.list'), () => ({ status: 200 }))
  const app = bind.aliases(async request => served(request, undefined))
  const response = await app(new Request('http://api.test/old?a=1'), undefined)
  t.equal(response.status, 200)
  t.equal(decisions[0]?.aliases.length, 1)
})

t.test('fetch: a handler gets the same request under current field names, with its own length', async t => {
  const fields = createAliases({
    requestFields: [{ operation: rule.operation, from: 'cap', to: 'capCents', mode: 'serve' }],
  })
  const { api, headers } = await setUp({ aliases: fields })
  const { wrap } = fetchGate(api, { body: 'clone', peer: 'none' })
  const body = '{"cap":1}'
  const request = new Request('http://api.test/new', {
    method: 'POST',
    headers: { ...headers, 'content-length': `${body.length}` },
    body,
  })
  let text = ''
  const served = wrap(api.idempotent(rule), async current => {
    t.not(current, request)
    t.equal(current.headers.get('content-length'), null)
    t.equal(api.enter(current, () => t.fail('it entered the gate before') as never).ok, true)
    text = await current.text()
    return new Response(null, { status: 204 })
  })
  t.equal((await served(request, undefined)).status, 204)
  t.equal(text, '{"capCents":1}')
})

t.test('Koa: emits the event at once if the client has left before the handler', async t => {
  const { api, decisions, headers } = await setUp()
  const guard = koaGate(api, { body: 'stream' }).guard(api.guarded(rule))
  const { request, response } = exchange(headers)
  const ctx = { req: request, res: response, request: {}, params: {}, originalUrl: '/new' } as never
  let count = -1
  const passed = guard(ctx, async () => {
    count = decisions.length
  })
  response.emit('close')
  await passed
  t.equal(count, 1, 'before the handler runs')
})
