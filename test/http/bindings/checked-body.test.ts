// What the `body` schema of a route has checked is what an existing handler reads, on every server and without idempotency.
import { once } from 'node:events'
import { createServer, request as sendRequest, type IncomingMessage, type Server } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { scopeCatalogue } from '@gatewright/kernel'
import { gate } from '@gatewright/http'
import type { AliasPort } from '#packages/http/dist/ports.js'
import { type BodyChoice, koaGate } from '@gatewright/http/koa'
import { expressGate, keepRawBody } from '@gatewright/http/express'
import { fastifyGate } from '@gatewright/http/fastify'
import { fetchGate } from '@gatewright/http/fetch'
import { createAliases } from '@gatewright/legacy-alias-router'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import t, { type Test } from 'tap'
import { z } from 'zod'
import { bench } from '../../scope-guard/issuer.ts'
import { listen } from '../../harness/listen.ts'

const operation = 'payments.create'
const mode = { deprecatedSince: Date.UTC(2026, 0, 1) }
const table = createAliases({
  requestFields: [{ operation, from: 'amount', to: 'amountCents', mode }],
})
/** An alias port that does not say which operations have old field names. */
const ownPort: AliasPort = {
  resolve: facts => table.resolve(facts),
  readFields: (of, body) => table.readFields(of, body),
}

async function setUp(aliases: AliasPort) {
  const { guard, bearer } = await bench()
  const api = gate({ guard, scopes: scopeCatalogue(['payments.write']), aliases })
  // Every member is optional, so that an empty body would pass.
  const body = z.object({ amountCents: z.number().positive().optional() })
  const route = api.guarded({ operation, allOf: ['payments.write'] }, { body })
  return { api, route, authorization: await bearer({ scopes: ['payments.write'] }) }
}
type SetUp = Awaited<ReturnType<typeof setUp>>
type Send = (request: Request) => Promise<Response>
type Mount = (setUp: SetUp, t: Test) => Promise<Send> | Send

async function served(server: Server, t: Test): Promise<Send> {
  const url = await listen(t, server)
  return async request =>
    fetch(url, {
      method: 'POST',
      headers: request.headers,
      body: await request.arrayBuffer(),
    })
}

const ofExpress =
  (body: BodyChoice): Mount =>
  ({ api, route }, t) => {
    const gw = expressGate(api, { body })
    const app = express()
    if (body !== 'stream') app.use(express.json({ verify: keepRawBody }))
    app.use(gw.guard(route), (request, response) => {
      response.json([request.body, gw.call(route, request).input.body])
    })
    return served(createServer(app), t)
  }

const ofKoa =
  (body: BodyChoice): Mount =>
  ({ api, route }, t) => {
    const gw = koaGate(api, { body })
    const app = new Koa()
    app.use(async (ctx, next) => {
      if (body !== 'stream') {
        const rawBody = Buffer.concat(await ctx.req.toArray()).toString()
        Object.assign(ctx.request, { rawBody, body: JSON.parse(rawBody) as unknown })
      }
      await next()
    })
    app.use(gw.guard(route)).use(ctx => {
      ctx.body = [(ctx.request as { body?: unknown }).body, gw.call(route, ctx).input.body]
    })
    return served(createServer(app.callback()), t)
  }

const ofFastify =
  (body: 'kept' | 'parsed'): Mount =>
  async ({ api, route }, t) => {
    const gw = fastifyGate(api, { body })
    const app = fastify()
    await app.register(gw.plugin)
    app.post('/', gw.hooks(route), async request => [request.body, gw.call(route, request).input.body])
    await app.ready()
    t.teardown(() => app.close())
    return served(app.server, t)
  }

/** Servers whose existing handler responds with the body that it read, and with the one that was checked. */
const servers: Readonly<Record<string, Mount>> = {
  'Express, stream': ofExpress('stream'),
  'Express, kept': ofExpress('kept'),
  'Express, parsed': ofExpress('parsed'),
  'Koa, stream': ofKoa('stream'),
  'Koa, kept': ofKoa('kept'),
  'Koa, parsed': ofKoa('parsed'),
  'Fastify, kept': ofFastify('kept'),
  'Fastify, parsed': ofFastify('parsed'),
  'plain node'({ api, route }, t) {
    const gw = expressGate(api, { body: 'stream' })
    const guard = gw.guard(route)
    const server = createServer((request: IncomingMessage & { body?: unknown }, response) =>
      guard(request, response, () =>
        response.end(JSON.stringify([request.body, gw.call(route, request).input.body])),
      ),
    )
    return served(server, t)
  },
  'fetch, clone': ({ api, route }) =>
    fetchGate(api, { body: 'clone', peer: 'none' }).wrap(route, async (request, { input }) =>
      Response.json([await request.json(), input.body]),
    ),
  'fetch, stream': ({ api, route }) =>
    fetchGate(api, { body: 'stream', peer: 'none' }).wrap(route, (_request, { json, input }) => {
      const body = json()
      return Response.json([body.ok && body.value, input.body])
    }),
  Hono({ api, route }) {
    const gw = fetchGate(api, { body: 'clone', peer: 'none' })
    const app = new Hono()
    app.post('/', gw.guard(route), async c =>
      c.json([await c.req.json(), gw.call(route, c.req.raw).input.body]),
    )
    return request => app.fetch(request) as Promise<Response>
  },
}

const cases = Object.entries(servers).flatMap(([name, mount]) => [
  { name, mount, port: table },
  { name: `${name}, own alias port`, mount, port: ownPort },
])
for (const { name, mount, port } of cases) {
  t.test(`${name}: an existing handler reads the body that the schema has checked`, async t => {
    const made = await setUp(port)
    const send = await mount(made, t)
    const post = async (body: object) => {
      const headers = { authorization: made.authorization, 'content-type': 'application/json' }
      const request = { method: 'POST', headers, body: JSON.stringify(body) }
      const reply = await send(new Request('http://api.test/', request))
      return [reply.status, await reply.json()]
    }
    const checked = { amountCents: 5 }
    t.same(await post({ amountCents: 5 }), [200, [checked, checked]])
    t.same(await post({ amount: 5 }), [200, [checked, checked]], 'under its old name')
    const denied = [400, { error: 'invalid_request', field: 'amountCents' }]
    t.match(await post({ amountCents: -5 }), denied)
    t.match(await post({ amount: -5 }), denied)
  })
}

/** Values of `Content-Encoding`, with bytes to send. */
const text = JSON.stringify({ amountCents: 5 })
const CODED: Readonly<Record<string, Uint8Array | string>> = {
  gzip: gzipSync(text),
  'x-gzip': gzipSync(text),
  deflate: deflateSync(text),
  br: brotliCompressSync(text),
  GZIP: gzipSync(text),
  'identity, gzip': gzipSync(text),
  'gzip, identity': gzipSync(text),
  'aws-chunked': text,
  'not a coding': text,
}

for (const [name, mount] of Object.entries(servers)) {
  t.test(`${name}: denies a body with a content coding, and names the accepted one`, async t => {
    const made = await setUp(table)
    const send = await mount(made, t)
    const post = async (coding: string, body: Uint8Array | string): Promise<Response> => {
      const { authorization } = made
      const headers = { authorization, 'content-type': 'application/json', 'content-encoding': coding }
      return send(new Request('http://api.test/', { method: 'POST', headers, body: body as string }))
    }
    for (const [coding, body] of Object.entries(CODED)) {
      // Parsers of Express that run before the gate deny these by themselves.
      if (/^Express, (?:kept|parsed)$/.test(name) && !/^(?:gzip|deflate|br)$/i.test(coding)) continue
      // This parser of Koa reads no coded body.
      if (/^Koa, (?:kept|parsed)$/.test(name) && body !== text) continue
      const response = await post(coding, body)
      t.equal(response.status, 415, coding)
      t.equal(response.headers.get('accept-encoding'), 'identity', coding)
      t.match(await response.json(), { error: 'unsupported_media_type', message: /Content-Encoding/ })
    }
    for (const coding of ['identity', 'Identity', ''])
      t.equal((await post(coding, text)).status, 200, `'${coding}'`)
  })
}

t.test('Fastify: denies a coded body of an own handler before its parser reads it', async t => {
  const { api, route, authorization } = await setUp(table)
  const gw = fastifyGate(api, { body: 'kept' })
  const app = fastify()
  await app.register(gw.plugin)
  app.post(
    '/',
    gw.handle(route, async () => ({ status: 200 })),
  )
  t.teardown(() => app.close())
  const headers = { authorization, 'content-type': 'application/json', 'content-encoding': 'gzip' }
  const { statusCode, headers: fields } = await app.inject({
    method: 'POST',
    url: '/',
    headers,
    payload: gzipSync(text),
  })
  t.equal(statusCode, 415)
  t.equal(fields['accept-encoding'], 'identity')
})

t.test('checks the body that a parser has read of a GET request', async t => {
  const { api, route, authorization } = await setUp(table)
  const app = express()
  app.use(express.json())
  app.use(expressGate(api, { body: 'parsed' }).guard(route), (request, response) => {
    response.json(request.body)
  })
  const url = await listen(t, createServer(app))
  const headers = { authorization, 'content-type': 'application/json', 'content-length': 18 }
  const sent = sendRequest(url, { method: 'GET', headers }).end('{"amountCents":-5}')
  const [reply] = (await once(sent, 'response')) as [IncomingMessage]
  reply.resume()
  t.equal(reply.statusCode, 400)
})

t.test("'parsed' checks the JSON body null as null, which the handler would get", async t => {
  const { api, route, authorization } = await setUp(table)
  const app = express()
  app.use(express.json({ strict: false }))
  app.post('/', expressGate(api, { body: 'parsed' }).guard(route), (request, response) => {
    response.json([request.body])
  })
  const send = await served(createServer(app), t)
  const headers = { authorization, 'content-type': 'application/json' }
  const { status } = await send(new Request('http://api.test/', { method: 'POST', headers, body: 'null' }))
  t.equal(status, 400)
})
