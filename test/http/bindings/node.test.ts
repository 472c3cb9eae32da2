import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import * as http2 from 'node:http2'
import { gate, type OpenGate, type IdempotentCall } from '@gatewright/http'
import type { Route } from '@gatewright/http/internal'
import type { Failure } from '#packages/http/dist/options.js'
import { type BodyChoice, koaGate } from '@gatewright/http/koa'
import { expressGate, keepRawBody } from '@gatewright/http/express'
import { createIdempotency } from '@gatewright/idempotency-store'
import type { IdempotencyBaseOptions } from '#packages/idempotency-store/dist/options.js'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { scopeCatalogue } from '@gatewright/kernel'
import type { Access } from '@gatewright/scope-guard'
import express from 'express'
import Koa from 'koa'
import t, { type Test } from 'tap'
import { bench } from '../../scope-guard/issuer.ts'
import { listen } from '../../harness/listen.ts'

const scopes = scopeCatalogue(['cards.write'])

interface Ground {
  readonly api: OpenGate
  readonly route: Route<IdempotentCall<Access>>
  readonly failures: Failure[]
  readonly clock: Awaited<ReturnType<typeof bench>>['clock']
  readonly headers: Record<string, string>
}

async function ground(options: IdempotencyBaseOptions = {}): Promise<Ground> {
  const { guard, bearer, clock } = await bench()
  const failures: Failure[] = []
  const idempotency = createIdempotency({ storage: memoryIdempotency(), clock, waitMs: 0, ...options })
  const report = (failure: Failure): unknown => failures.push(failure)
  const api = gate({ guard, scopes, idempotency, responseLimitBytes: 100, report })
  const route = api.idempotent({ operation: 'cards.create', allOf: ['cards.write'] })
  const headers = {
    authorization: await bearer(),
    'content-type': 'application/json',
    'idempotency-key': 'key-12345',
  }
  return { api, route, failures, clock, headers }
}

const post = (url: string, headers: Record<string, string>, body = '{"a":1}'): Promise<Response> =>
  fetch(url, { method: 'POST', headers, body })

/** An Express app whose one existing handler counts its runs. */
function counted(
  { api, route }: Ground,
  body: BodyChoice,
  parser?: express.RequestHandler,
): { app: express.Express; runs: unknown[] } {
  const app = express()
  const runs: unknown[] = []
  const gw = expressGate(api, { body })
  if (parser) app.use(parser)
  app.post('/', gw.guard(route), (request, response) => {
    runs.push(request.body)
    response.status(201).json({ run: runs.length })
  })
  return { app, runs }
}

t.test("'kept' compares the bytes that express.json read", async t => {
  const place = await ground({ fingerprint: 'raw' })
  const { app, runs } = counted(place, 'kept', express.json({ verify: keepRawBody }))
  const url = await listen(t, app)
  t.equal((await post(url, place.headers)).status, 201)
  t.equal((await post(url, place.headers, '{"a": 1}')).status, 400)
  t.equal((await post(url, { ...place.headers, 'content-type': 'text/plain' }, 'a')).status, 415)
  t.same(runs, [{ a: 1 }])
})

t.test("'kept' compares the bytes that a platform keeps in request.rawBody", async t => {
  const place = await ground({ fingerprint: 'raw' })
  /** What Nest with `rawBody: true` and Cloud Functions do. */
  const platform = express.json({
    verify: (request, _response, bytes) => void Object.assign(request, { rawBody: bytes }),
  })
  const { app, runs } = counted(place, 'kept', platform)
  const url = await listen(t, app)
  t.equal((await post(url, place.headers)).status, 201)
  t.equal((await post(url, place.headers)).headers.get('idempotency-replayed'), 'true')
  t.equal((await post(url, place.headers, '{"a": 1}')).status, 400)
  t.same(runs, [{ a: 1 }])
})

t.test("'kept' does not take a text in request.rawBody for the bytes", async t => {
  const place = await ground()
  const parser = express.json({
    verify: (request, _response, bytes) => void Object.assign(request, { rawBody: bytes.toString() }),
  })
  const { app, runs } = counted(place, 'kept', parser)
  t.equal((await post(await listen(t, app), place.headers)).status, 500)
  t.match(place.failures, [{ error: { message: /request\.rawBody \(Nest with rawBody: true\)/ } }])
  t.same(runs, [])
})

t.test(
  "'kept' without the verify hook fails with an error that names the mistake, and no handler runs",
  async t => {
    const place = await ground()
    const { app, runs } = counted(place, 'kept', express.json())
    t.equal((await post(await listen(t, app), place.headers)).status, 500)
    t.match(place.failures, [{ error: { message: /express\.json\(\{ verify: keepRawBody \}\)/ } }])
    t.same(runs, [])
  },
)

t.test(
  "'stream' after a body parser fails with an error that names the mistake, and no handler runs",
  async t => {
    const place = await ground()
    const { app, runs } = counted(place, 'stream', express.json())
    t.equal((await post(await listen(t, app), place.headers)).status, 500)
    t.match(place.failures, [
      {
        error: {
          message: /Mount the routes before express\.json\(\), or keep the bytes: .*keepRawBody/,
        },
      },
    ])
    t.same(runs, [])
  },
)

t.test("'parsed' treats two spellings of one value as the same payload, as documented", async t => {
  const place = await ground()
  const { app, runs } = counted(place, 'parsed', express.json())
  const url = await listen(t, app)
  t.equal((await post(url, place.headers)).status, 201)
  t.equal((await post(url, place.headers, '{ "a": 1 }')).headers.get('idempotency-replayed'), 'true')
  t.equal((await post(url, place.headers, '{"a":2}')).status, 400)
  t.equal(runs.length, 1)
})

t.test("'parsed' denies a body nested too deeply to be serialized, and no handler runs", async t => {
  const place = await ground()
  const { app, runs } = counted(place, 'parsed', express.json())
  const url = await listen(t, app)
  for (const levels of [33, 20_000]) {
    const body = `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
    t.equal((await post(url, place.headers, body)).status, 400, `${levels} levels`)
  }
  t.same(runs, [])
})

t.test("Koa: 'kept' reads the rawBody that a parser left, 'parsed' the parsed body", async t => {
  for (const body of ['kept', 'parsed'] as const) {
    const { api, route, headers } = await ground({ fingerprint: 'raw' })
    const app = new Koa()
    app.use(async (ctx, next) => {
      const chunks: Buffer[] = []
      for await (const chunk of ctx.req) chunks.push(chunk as Buffer)
      const rawBody = Buffer.concat(chunks).toString()
      Object.assign(ctx.request, { rawBody, body: JSON.parse(rawBody) as unknown })
      await next()
    })
    const gw = koaGate(api, { body })
    app.use(gw.guard(route)).use(ctx => {
      ctx.body = { done: true }
    })
    const url = await listen(t, app.callback())
    t.equal((await post(url, headers)).status, 200)
    t.equal((await post(url, headers, '{"a": 1}')).status, body === 'kept' ? 400 : 200)
  }
})

t.test('Koa: a thrown error leaves the outcome unknown, also if it has a status and is exposed', async t => {
  const { api, route, headers } = await ground()
  const app = new Koa()
  app.silent = true
  let runs = 0
  app.use(koaGate(api, { body: 'stream' }).guard(route)).use(ctx => {
    runs++
    ctx.throw(409, 'taken')
  })
  const url = await listen(t, app.callback())
  const first = await post(url, headers)
  t.match([first.status, await first.text()], [409, 'taken'])
  const again = await post(url, headers)
  t.match([again.status, await again.json()], [503, { error: 'outcome_unknown' }])
  t.equal(runs, 1)
})

/** A plain server whose existing handler is `handler`. */
async function plain(
  t: Test,
  { api, route }: Ground,
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const guard = expressGate(api, { body: 'stream' }).guard(route)
  return listen(t, (request, response) => guard(request, response, () => handler(request, response)))
}

t.test('sends a response that is not text unchanged, and replays its status', async t => {
  const place = await ground()
  const url = await plain(t, place, (_request, response) =>
    response.writeHead(201, ['X-A', 'b']).end(Buffer.from([255])),
  )
  const first = await post(url, place.headers)
  t.same(new Uint8Array(await first.arrayBuffer()), new Uint8Array([255]))
  t.equal(first.headers.get('x-a'), 'b')
  const again = await post(url, place.headers)
  t.match([again.status, await again.text()], [201, ''])
})

t.test('refuses a large response in chunks with an error that names the operation', async t => {
  const place = await ground()
  const url = await plain(t, place, (_request, response) => {
    for (let i = 0; i < 200; i++) response.write('x')
    response.end()
  })
  t.equal((await post(url, place.headers)).status, 500)
  t.match(place.failures, [{ error: { message: /cards\.create wrote more than 100 bytes in chunks/ } }])
})

t.test('responds for a handler that throws synchronously, and its outcome is unknown', async t => {
  const place = await ground()
  let runs = 0
  const url = await plain(t, place, () => {
    runs++
    throw new Error('inside')
  })
  t.equal((await post(url, place.headers)).status, 500)
  t.match(await (await post(url, place.headers)).json(), { error: 'outcome_unknown' })
  t.equal(runs, 1)
})

t.test('reports a handler that returns nothing, and its outcome is unknown', async t => {
  const { api, route, failures, headers } = await ground()
  let runs = 0
  const nothing = (): never => {
    runs++
    return undefined as never
  }
  const url = await listen(t, expressGate(api, { body: 'stream' }).handle(route, nothing))
  t.equal((await post(url, headers)).status, 500)
  t.match(failures, [
    {
      error: {
        message: /^cards\.create: the handler must return \{ status.* got nothing: a return is missing$/,
      },
    },
  ])
  t.match(await (await post(url, headers)).json(), { error: 'outcome_unknown' })
  t.equal(runs, 1)
})

t.test('returns 503 if another run has completed the write meanwhile', async t => {
  const recover = async (): Promise<{ state: 'never_happened' }> => ({ state: 'never_happened' })
  const place = await ground({ leaseMs: 1000, recover })
  const waiting: ServerResponse[] = []
  const url = await plain(t, place, (_request, response) => void waiting.push(response))
  const first = post(url, place.headers)
  while (waiting.length < 1) await new Promise(setImmediate)
  place.clock.advance(2000)
  const second = post(url, place.headers)
  while (waiting.length < 2) await new Promise(setImmediate)
  waiting[1]?.writeHead(201).end('second')
  t.equal((await second).status, 201)
  waiting[0]?.setHeader('Content-Length', 5).writeHead(201).end('first')
  t.match([(await first).status, (await first).headers.get('retry-after')], [503, '1'])
  t.equal(await (await post(url, place.headers)).text(), 'second')
})

t.test('call() throws for a request that guard(route) has not accepted', async t => {
  const { api, route } = await ground()
  const gw = expressGate(api, { body: 'stream' })
  t.throws(() => gw.call(route, {} as never), /cards\.create: mount its middleware before the handler/)
})

t.test('the facts have the whole path, also below a mounted router', async t => {
  const { api } = await ground()
  const gw = expressGate(api, { body: 'stream' })
  const router = express.Router()
  router.get(
    '/cards',
    gw.handle(api.open('cards.list'), ({ facts }) => ({ status: 200, body: { path: facts.path } })),
  )
  const url = await listen(t, express().use('/v1', router))
  t.match(await (await fetch(`${url}/v1/cards?a=1`)).json(), { path: '/v1/cards' })
})

t.test('serves HTTP/2', async t => {
  const { api, route, headers } = await ground()
  const handle = expressGate(api, { body: 'stream' }).handle(route, ({ facts, body }) => ({
    status: 201,
    body: { host: facts.header('host'), bytes: body.length },
  }))
  const url = await listen(
    t,
    http2.createServer((request, response) => handle(request, response)),
  )
  const session = http2.connect(url)
  t.teardown(() => session.destroy())
  const stream = session.request({ ':method': 'POST', ':path': '/', ...headers })
  stream.end('{"a":1}')
  const [reply] = (await once(stream, 'response')) as [Record<string, unknown>]
  let text = ''
  for await (const chunk of stream) text += String(chunk)
  t.equal(reply[':status'], 201)
  t.match(JSON.parse(text), { host: /^127\.0\.0\.1:/, bytes: 7 })
})

t.test(
  'Express: outside a route, a response of 400 leaves the outcome unknown, since it may come from an error handler',
  async t => {
    for (const [mount, outcome] of [
      ['use', 'outcome_unknown'],
      ['post', undefined],
      ['all', undefined],
    ] as const) {
      const { api, route, headers } = await ground()
      const app = express()
      let runs = 0
      const gw = expressGate(api, { body: 'stream' })
      const handler: express.RequestHandler = (_request, response) => {
        runs++
        response.status(422).json({ error: 'own' })
      }
      if (mount === 'use') app.use('/', gw.guard(route), handler)
      else app[mount]('/', gw.guard(route), handler)
      const url = await listen(t, app)
      t.equal((await post(url, headers)).status, 422)
      const again = (await (await post(url, headers)).json()) as { error: string }
      t.equal(again.error, outcome ?? 'own', mount)
      t.equal(runs, outcome ? 1 : 2)
    }
  },
)

t.test(
  'Express: recognizes the response of an error handler of the application, of a router or of the route',
  async t => {
    const { api, route, headers } = await ground()
    const onError: express.ErrorRequestHandler = (_error, _request, response, _next) =>
      void response.status(400).json({ error: 'handled' })
    const gw = expressGate(api, { body: 'stream' })
    const app = express()
    const router = express.Router()
    router.post('/thrown', gw.guard(route), () => {
      throw new Error('own')
    })
    router.post('/next', gw.guard(route), (_request, _response, next) => next(new Error('own')))
    // oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Express 5 takes the promise
    router.post('/rejected', gw.guard(route), async () => Promise.reject(new Error('own')))
    router.use(onError)
    app.use(router)
    app.post('/application', gw.guard(route), () => {
      throw new Error('own')
    })
    app.post('/split', gw.guard(route))
    app.post('/split', () => {
      throw new Error('own')
    })
    const fails: express.RequestHandler = () => {
      throw new Error('own')
    }
    app.post('/of-the-route', gw.guard(route), fails, onError)
    const inner = express.Router()
    inner.use(fails)
    inner.use(onError)
    app.post('/of-a-router-in-the-route', gw.guard(route), inner)
    app.use(onError)
    const url = await listen(t, app)
    const paths = ['/thrown', '/next', '/rejected', '/application', '/split']
    for (const path of [...paths, '/of-the-route', '/of-a-router-in-the-route']) {
      const keyed = { ...headers, 'idempotency-key': `key${path}-00000` }
      for (const expected of ['handled', 'outcome_unknown']) {
        t.match(await (await post(url + path, keyed)).json(), { error: expected }, `${path}: ${expected}`)
      }
    }
    t.equal((await fetch(`${url}/thrown`, { method: 'OPTIONS' })).headers.get('allow'), 'POST')
  },
)

t.test('Express 5: gives the segments of a wildcard as one text', async t => {
  const { api } = await ground()
  const app = express()
  const gw = expressGate(api, { body: 'stream' })
  app.get(
    '/files/:owner/*path',
    gw.handle(api.open('files.read'), ({ params }) => ({ status: 200, body: params })),
  )
  const url = await listen(t, app)
  t.same(await (await fetch(`${url}/files/ann/a/b.txt`)).json(), { owner: 'ann', path: 'a/b.txt' })
})
