import { once } from 'node:events'
import * as http2 from 'node:http2'
import { gate, type OpenGate, type IdempotentCall } from '@gatewright/http'
import type { Route } from '@gatewright/http/internal'
import type { Failure } from '#packages/http/dist/options.js'
import { type BodyChoice, koaGate } from '@gatewright/http/koa'
import { expressGate } from '@gatewright/http/express'
import { fastifyGate } from '@gatewright/http/fastify'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { scopeCatalogue } from '@gatewright/kernel'
import type { Access } from '@gatewright/scope-guard'
import express from 'express'
import { fastify as Fastify } from 'fastify'
import Koa from 'koa'
import t, { type Test } from 'tap'
import { bench } from '../../scope-guard/issuer.ts'
import { listen } from '../../harness/listen.ts'

interface Place {
  readonly api: OpenGate
  readonly route: Route<IdempotentCall<Access>>
  readonly failures: Failure[]
  readonly runs: unknown[]
  readonly headers: Record<string, string>
}

async function place(): Promise<Place> {
  const { guard, bearer, clock } = await bench()
  const failures: Failure[] = []
  const api = gate({
    guard,
    scopes: scopeCatalogue(['cards.write']),
    idempotency: createIdempotency({ storage: memoryIdempotency(), clock, waitMs: 0 }),
    report: failure => failures.push(failure),
  })
  const route = api.idempotent({ operation: 'cards.create', allOf: ['cards.write'] })
  const headers = {
    authorization: await bearer(),
    'content-type': 'application/json',
    'idempotency-key': 'key-12345',
  }
  return { api, route, failures, runs: [], headers }
}

const post = (url: string, headers: Record<string, string>, body?: RequestInit['body']): Promise<Response> =>
  fetch(url, { method: 'POST', headers, body: body ?? null, duplex: 'half' })

const UNREAD = /^body 'parsed': no parser has read this request: mount .+ before the gate/

const chunked = (text: string): ReadableStream =>
  new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from(text))
      controller.close()
    },
  })

/** Express and Koa with no parser: one existing handler behind `guard`, and one that returns its response. */
const unparsed: Record<string, (t: Test, place: Place) => Promise<string>> = {
  Express(t, { api, route, runs }) {
    const gw = expressGate(api, { body: 'parsed' })
    const app = express()
    app.post('/', gw.guard(route), (_request, response) => void response.json({ run: runs.push('ran') }))
    app.post(
      '/handle',
      gw.handle(route, () => ({ status: 201, body: runs.push('ran') })),
    )
    return listen(t, app)
  },
  Koa(t, { api, route, runs }) {
    const gw = koaGate(api, { body: 'parsed' })
    const app = new Koa()
    const guarded = gw.guard(route)
    const handled = gw.handle(route, () => ({ status: 201, body: runs.push('ran') }))
    app.use(async (ctx, next) => (ctx.path === '/handle' ? handled(ctx, next) : guarded(ctx, next)))
    app.use(ctx => {
      ctx.body = { run: runs.push('ran') }
    })
    return listen(t, app.callback())
  },
  async Fastify(t, { api, route, runs }) {
    const gw = fastifyGate(api, { body: 'parsed' })
    const app = Fastify()
    app.removeAllContentTypeParsers()
    // A proxy's parser: leaves the stream for somebody else to read.
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))
    app.route({
      method: 'POST',
      url: '/',
      ...gw.hooks(route),
      handler: async () => ({ run: runs.push('ran') }),
    })
    const handled = gw.handle(route, () => ({ status: 201, body: runs.push('ran') }))
    app.route({ method: 'POST', url: '/handle', ...handled })
    t.teardown(() => app.close())
    return app.listen({ port: 0, host: '127.0.0.1' })
  },
}

for (const [framework, start] of Object.entries(unparsed)) {
  t.test(
    `${framework}: 'parsed' without a body parser fails with an error that names the mistake`,
    async t => {
      const at = await place()
      const url = await start(t, at)
      for (const path of ['', '/handle']) {
        for (const body of ['{"amount":1}', chunked('{"amount":2}')]) {
          const reply = await post(url + path, at.headers, body)
          t.match([reply.status, await reply.json()], [500, { error: 'internal_error' }])
        }
      }
      t.equal(at.failures.length, 4)
      for (const { operation, error } of at.failures) {
        t.equal(operation, 'cards.create')
        t.match((error as Error).message, UNREAD)
      }
      t.same(at.runs, [])
    },
  )

  t.test(`${framework}: a request without a body needs no parser`, async t => {
    const at = await place()
    const url = await start(t, at)
    t.ok((await post(url, at.headers)).ok)
    t.equal(at.runs.length, 1)
  })
}

t.test("a body that the parser does not read is the client's mistake: 415", async t => {
  const at = await place()
  const app = express().use(express.json())
  app.post('/', expressGate(at.api, { body: 'parsed' }).guard(at.route), (_request, response) => {
    response.json({ run: at.runs.push('ran') })
  })
  const url = await listen(t, app)
  for (const type of ['text/plain', 'application/octet-stream', 'application/jsonx']) {
    const reply = await post(url, { ...at.headers, 'content-type': type }, '{"amount":1}')
    t.match([reply.status, await reply.json()], [415, { error: 'unsupported_media_type' }])
  }
  t.same([at.runs, at.failures], [[], []])
})

t.test(
  'returns 415 for an empty object that was parsed from a body that is not JSON, and accepts it from JSON',
  async t => {
    const at = await place()
    const app = express()
    // Express 4, koa-bodyparser and multer (files only) leave an empty object.
    app.use((request, _response, next) => {
      request.body = {}
      next()
    })
    app.post('/', expressGate(at.api, { body: 'parsed' }).guard(at.route), (_request, response) => {
      response.json({ run: at.runs.push('ran') })
    })
    const url = await listen(t, app)
    const form = new FormData()
    form.set('file', new Blob(['one']), 'one.txt')
    const { 'content-type': _json, ...headers } = at.headers
    t.equal((await post(url, headers, form)).status, 415)
    t.equal((await post(url, { ...headers, 'content-type': 'text/plain' }, 'a')).status, 415)
    t.same(at.runs, [])
    t.equal((await post(url, at.headers, '{}')).status, 200)
  },
)

/** HTTP/2 needs no Content-Length: whether a body follows is said by the stream. */
async function postOverHttp2(
  t: Test,
  at: Place,
  body: BodyChoice,
  text: string | undefined,
): Promise<number> {
  const guard = expressGate(at.api, { body }).guard(at.route)
  const server = http2.createServer((request, response) => {
    guard(request, response, () => {
      at.runs.push('ran')
      response.writeHead(201).end()
    })
  })
  const client = http2.connect(await listen(t, server))
  t.teardown(() => client.close())
  const stream = client.request(
    { ':method': 'POST', ':path': '/', ...at.headers },
    { endStream: text === undefined },
  )
  if (text !== undefined) stream.end(text)
  const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders & { ':status'?: number }]
  stream.resume()
  return headers[':status'] ?? 0
}

t.test('HTTP/2: detects a body without content-length that no parser has read or kept', async t => {
  const parsed = await place()
  t.equal(await postOverHttp2(t, parsed, 'parsed', '{"amount":1}'), 500)
  t.match(parsed.failures, [{ error: { message: UNREAD } }])
  const kept = await place()
  t.equal(await postOverHttp2(t, kept, 'kept', '{"amount":1}'), 500)
  t.match(kept.failures, [{ error: { message: /^body 'kept': no parser has read this request/ } }])
  t.same([parsed.runs, kept.runs], [[], []])
})

t.test('HTTP/2: a request without a body needs no parser', async t => {
  for (const body of ['parsed', 'kept'] as const) {
    const at = await place()
    t.equal(await postOverHttp2(t, at, body, undefined), 201)
  }
})
