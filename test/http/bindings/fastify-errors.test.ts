// How errors and replies of Fastify become responses of the gate.
import { scopeCatalogue } from '@gatewright/kernel'
import { gate, type Decision, type IdempotencyPort } from '@gatewright/http'
import type { Failure } from '#packages/http/dist/options.js'
import { fastifyGate } from '@gatewright/http/fastify'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import Fastify, { type FastifyReply } from 'fastify'
import t, { type Test } from 'tap'
import { bench } from '../../scope-guard/issuer.ts'
import { parserDenial } from '#packages/http/dist/bindings/fastify-body.js'

t.test('denies what a body parser refuses, and takes any other error for a failure', async t => {
  for (const [error, code] of [
    [{ statusCode: 413 }, 'payload_too_large'],
    [{ statusCode: 413, code: 'FST_ERR_CTP_BODY_TOO_LARGE' }, 'payload_too_large'],
    [{ statusCode: 415, code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE' }, 'unsupported_media_type'],
    [{ statusCode: 400 }, 'invalid_request'],
    [{ code: 'FST_ERR_CTP_EMPTY_JSON_BODY' }, 'invalid_request'],
    [{ code: 'FST_ERR_BAD_URL' }, 'invalid_request'],
    [new SyntaxError('Unexpected token'), 'invalid_request'],
    [{ statusCode: 401 }, undefined],
    [{ statusCode: 500, code: 'FST_ERR_REP_INVALID' }, undefined],
    [{ code: 7 }, undefined],
    [new Error('broken'), undefined],
    [undefined, undefined],
    [null, undefined],
  ] as const)
    t.equal(parserDenial(error, 10)?.code, code)
  t.match(parserDenial({ statusCode: 413 }, 10), {
    status: 413,
    message: 'the body must be at most 10 bytes',
  })
  t.match(parserDenial({ statusCode: 400 }, 10), { field: 'body' })
})

/** An application whose POST / is guarded, with its decision events and failures. */
async function setUp(
  t: Test,
  handler: (reply: FastifyReply) => unknown,
  { idempotent = true, port = {} }: { idempotent?: boolean; port?: Partial<IdempotencyPort> } = {},
) {
  const { guard, bearer } = await bench()
  const decisions: Decision[] = []
  const failures: Failure[] = []
  const inner = createIdempotency({ storage: memoryIdempotency(), waitMs: 0 }) as IdempotencyPort
  const api = gate({
    guard,
    scopes: scopeCatalogue(['cards.write']),
    idempotency: { ...inner, ...port },
    observe: decision => decisions.push(decision),
    report: failure => failures.push(failure),
    bodyLimitBytes: 100,
  })
  const app = Fastify()
  t.teardown(() => app.close())
  const bind = fastifyGate(api, { body: 'kept' })
  await app.register(bind.plugin as never)
  const rule = { operation: 'cards.create', allOf: ['cards.write'] } as const
  const route = idempotent ? api.idempotent(rule) : api.guarded(rule)
  app.route({
    method: 'POST',
    url: '/',
    ...(bind.hooks(route as never) as object),
    handler: (_request: unknown, reply: FastifyReply) => handler(reply),
  })
  const handled = bind.handle(route as never, () => ({ status: 201, body: 'handled' }))
  app.route({ method: 'POST', url: '/handled', ...(handled as object) } as never)
  const authorization = await bearer()
  const send = (payload = '{"a":1}', url = '/', headers: Record<string, string> = {}) =>
    app.inject({
      method: 'POST',
      url,
      payload,
      headers: {
        authorization,
        'content-type': 'application/json',
        'idempotency-key': 'key-00000001',
        ...headers,
      },
    })
  return { api, app, bind, route, send, authorization, decisions, failures }
}

t.test('sends the denial of a body that cannot be parsed, and the failure of anything else', async t => {
  const { app, send, decisions, failures } = await setUp(t, () => 'own')
  t.match((await send('{', '/handled')).json(), { error: 'invalid_request', field: 'body' })
  t.match((await send('x'.repeat(101), '/handled')).json(), { error: 'payload_too_large' })
  t.match((await send('a=1', '/handled', { 'content-type': 'text/a' })).statusCode, 415)
  t.match(
    decisions.map(({ code }) => code),
    ['invalid_request', 'payload_too_large', 'unsupported_media_type'],
  )
  t.same(failures, [])
  t.ok(app)
})

t.test('emits one event for a guarded route whose body parser has failed', async t => {
  const { send, decisions } = await setUp(t, () => 'own')
  t.equal((await send('{')).statusCode, 400)
  t.match(decisions, [{ operation: 'cards.create', status: 400 }])
})

t.test('emits the event of an existing handler without a record when it responds', async t => {
  const { send, decisions } = await setUp(t, reply => reply.code(202).send('own'), { idempotent: false })
  t.equal((await send()).body, 'own')
  t.match(decisions, [{ operation: 'cards.create', status: 202 }])
  t.equal(decisions.length, 1)
})

t.test('the outcome is unknown before the error of an existing handler is sent', async t => {
  const completed: object[] = []
  const inner = createIdempotency({ storage: memoryIdempotency(), waitMs: 0 }) as IdempotencyPort
  const port: IdempotencyPort = {
    ...inner,
    async complete(claim, output, undo) {
      await new Promise(resolve => setImmediate(resolve))
      completed.push(output)
      return inner.complete(claim, output, undo)
    },
  }
  const broken = (): never => {
    throw Object.assign(new Error('own'), { statusCode: 418 })
  }
  const { send, decisions } = await setUp(t, broken, { port })
  t.equal((await send()).statusCode, 418)
  t.match(completed, [{ status: 500 }])
  t.match(decisions, [{ status: 418 }])
  t.match((await send()).json(), { error: 'outcome_unknown' })
})

t.test('records each kind of payload, and replays it', async t => {
  const payloads: [payload: unknown, body: string][] = [
    ['text', 'text'],
    [Buffer.from('bytes'), 'bytes'],
    [{ a: 1 }, '{"a":1}'],
    [undefined, ''],
    [null, 'null'],
  ]
  for (const [payload, body] of payloads) {
    const { send } = await setUp(t, reply => reply.code(201).header('location', '/a').send(payload))
    for (const replayed of [undefined, 'true']) {
      const response = await send()
      t.match(response, { statusCode: 201, body })
      t.match(response.headers, { location: '/a', 'idempotency-expires': / GMT$/ })
      t.equal(response.headers['idempotency-replayed'], replayed)
    }
  }
})

t.test('sends another response if another run has completed meanwhile, with its own length', async t => {
  const { send, decisions } = await setUp(t, reply => reply.code(201).send('x'.repeat(1000)), {
    port: { complete: async () => ({ state: 'late' }) },
  })
  const response = await send()
  t.equal(response.statusCode, 503)
  t.match(response.json(), { error: 'service_unavailable' })
  t.equal(response.headers['retry-after'], '1')
  t.equal(Number(response.headers['content-length']), Buffer.byteLength(response.body))
  t.match(decisions, [{ status: 503 }])
})

t.test('returns the call of a request that the route accepted, and throws for any other', async t => {
  const { app, bind, route, send, api } = await setUp(t, () => 'own')
  const seen: unknown[] = []
  const other = api.open('plans.list')
  app.route({
    method: 'POST',
    url: '/call',
    ...(bind.hooks(route as never) as object),
    handler: (request: never) => {
      seen.push((bind.call(route as never, request) as { credential?: string }).credential)
      t.throws(() => bind.call(other, request), /plans\.list: mount the route with hooks\(route\)/)
      return 'called'
    },
  } as never)
  app.post('/bare', request => {
    t.throws(() => bind.call(other, request), /plans\.list: mount the route with hooks\(route\)/)
    return 'bare'
  })
  t.equal((await send('{}', '/call')).body, 'called')
  t.equal((await send('{}', '/bare')).body, 'bare')
  t.same(seen, ['session'])
})

t.test('rewrites old paths before routing, with their query, and leaves others', async t => {
  const { api, bind } = await setUp(t, () => 'own')
  t.ok(api)
  for (const url of ['/a', '/a?b=c', '/']) {
    const raw = { url, method: 'GET', headers: {}, socket: { remoteAddress: '192.0.2.1' } }
    t.equal(bind.rewriteUrl(raw as never), url)
  }
})

t.test('renders a replay of a handler of the gate, and gives it the path parameters', async t => {
  const { guard, bearer } = await bench()
  const rendered: string[] = []
  const api = gate({
    guard,
    scopes: scopeCatalogue(['cards.write']),
    idempotency: createIdempotency({ storage: memoryIdempotency() }),
    render: outcome => {
      rendered.push(outcome.kind)
      return { status: 200, headers: [], body: outcome.kind === 'response' ? outcome.response.body : 'none' }
    },
  })
  const bind = fastifyGate(api, { body: 'kept' })
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(bind.plugin as never)
  const route = api.idempotent({ operation: 'cards.create', allOf: ['cards.write'] })
  const handled = bind.handle(route, ({ params }) => ({ status: 201, body: params }))
  app.route({ method: 'POST', url: '/things/:id', ...(handled as object) } as never)
  const headers = {
    authorization: await bearer(),
    'content-type': 'application/json',
    'idempotency-key': 'key-00000001',
  }
  for (const _ of [1, 2]) {
    const response = await app.inject({ method: 'POST', url: '/things/7', payload: '{}', headers })
    t.same(response.json(), { id: '7' })
  }
  t.same(rendered, ['response', 'response'])
})

t.test('reads an empty body that is sent in chunks as a missing one', async t => {
  const { app, authorization } = await setUp(t, reply => reply.code(201).send('made'))
  const address = await app.listen({ port: 0 })
  for (const [path, text] of [
    ['/', 'made'],
    ['/handled', 'handled'],
  ] as const) {
    const response = await fetch(address + path, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', 'idempotency-key': `key-0000${path}` },
      body: new ReadableStream({ start: controller => controller.close() }),
      duplex: 'half',
    })
    t.same([response.status, await response.text()], [201, text])
  }
})
