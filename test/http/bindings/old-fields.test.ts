// An existing handler gets its body under current names, since it was checked, limited and counted under them.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { scopeCatalogue } from '@gatewright/kernel'
import { gate, type Decision } from '@gatewright/http'
import { expressGate } from '@gatewright/http/express'
import { fastifyGate } from '@gatewright/http/fastify'
import { fetchGate } from '@gatewright/http/fetch'
import { koaGate } from '@gatewright/http/koa'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryStorage } from '@gatewright/idempotency-store/memory'
import { createAliases } from '@gatewright/legacy-alias-router'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import t, { type Test } from 'tap'
import { bench } from '../../scope-guard/issuer.ts'

const operation = 'cards.create'
const mode = { deprecatedSince: Date.UTC(2026, 0, 1) }

async function setUp() {
  const { guard, bearer } = await bench()
  const decisions: Decision[] = []
  const api = gate({
    ...{ guard, scopes: scopeCatalogue(['cards.write']) },
    idempotency: createIdempotency({ storage: memoryStorage() }),
    aliases: createAliases({
      requestFields: [
        { operation, from: 'cap', to: 'capCents', mode },
        { operation, from: 'limit', to: 'capCents', mode: 'gone' },
      ],
    }),
    observe: decision => decisions.push(decision),
  })
  const route = api.idempotent({ operation, allOf: ['cards.write'] })
  return { api, route, decisions, authorization: await bearer({ scopes: ['cards.write'] }) }
}
type SetUp = Awaited<ReturnType<typeof setUp>>
type Send = (request: Request) => Promise<Response>

async function served(server: Server, t: Test): Promise<Send> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  return async request =>
    fetch(`http://127.0.0.1:${port}/cards`, {
      ...{ method: 'POST', headers: request.headers, body: await request.text() },
    })
}

/** Servers whose handler answers with the body that it got from its framework. */
const servers: Readonly<Record<string, (setUp: SetUp, t: Test) => Promise<Send> | Send>> = {
  'fetch, from a clone': ({ api, route }) =>
    fetchGate(api, { body: 'clone', peer: 'none' }).wrap(route, async request =>
      Response.json(await request.json(), { status: 201 }),
    ),
  Hono({ api, route }) {
    const gw = fetchGate(api, { body: 'clone', peer: 'none' })
    const app = new Hono()
    app.post('/cards', gw.guard(route), async c => {
      gw.call(route, c.req.raw)
      return c.json(await c.req.json(), 201)
    })
    return request => app.fetch(request) as Promise<Response>
  },
  'Express, read by the gate'({ api, route }, t) {
    const app = express()
    app.post('/cards', expressGate(api, { body: 'stream' }).guard(route), (request, response) => {
      response.status(201).json(request.body)
    })
    return served(createServer(app), t)
  },
  'Express, read by its parser'({ api, route }, t) {
    const app = express()
    app.use(express.json())
    app.post('/cards', expressGate(api, { body: 'parsed' }).guard(route), (request, response) => {
      response.status(201).json(request.body)
    })
    return served(createServer(app), t)
  },
  Koa({ api, route }, t) {
    const app = new Koa()
    app.use(koaGate(api, { body: 'stream' }).guard(route))
    app.use(ctx => {
      ctx.status = 201
      ctx.body = (ctx.request as { body?: unknown }).body
    })
    return served(createServer(app.callback()), t)
  },
  async Fastify({ api, route }, t) {
    const gw = fastifyGate(api, { body: 'kept' })
    const app = fastify()
    await app.register(gw.plugin)
    app.post('/cards', gw.hooks(route), async (request, reply) => reply.code(201).send(request.body))
    await app.ready()
    t.teardown(() => app.close())
    return served(app.server, t)
  },
}

for (const [name, mount] of Object.entries(servers)) {
  t.test(
    `${name}: an existing handler gets current names, and the answer says that an old one was used`,
    async t => {
      const made = await setUp()
      const send = await mount(made, t)
      // The same body has the same key.
      const post = async (body: object, key = `key-${Object.keys(body).join('-')}-of-a-card`) => {
        const headers = {
          ...{ authorization: made.authorization, 'content-type': 'application/json' },
          'idempotency-key': key,
        }
        const answer = await send(
          new Request('http://api.test/cards', { method: 'POST', headers, body: JSON.stringify(body) }),
        )
        const { headers: sent, status } = answer
        const { aliases } = made.decisions.at(-1) ?? {}
        return { status, body: await answer.json(), deprecation: sent.get('deprecation'), aliases }
      }
      const old = { status: 201, body: { capCents: 500, name: 'a' }, deprecation: '@1767225600' }
      const aliases = [`request-field:${operation}:cap`]
      t.same(await post({ cap: 500, name: 'a' }), { ...old, aliases })
      t.same(await post({ cap: 500, name: 'a' }), { ...old, aliases }, 'also in a replay')
      const current = { capCents: 500, name: 'a' }
      t.same(await post(current), { status: 201, body: current, deprecation: null, aliases: [] })
      t.match(await post({ cap: 500, capCents: 600 }), { status: 400, body: { field: 'capCents' } })
      t.match(await post({ limit: 500 }), { status: 410, body: { error: 'gone' } })
    },
  )
}

t.test('refuses to guard a handler whose body has old names and is not read', async t => {
  const { api } = await setUp()
  const unrecorded = api.guarded({ operation, allOf: ['cards.write'] })
  const refused = /cards\.create: the alias table renames fields of its body/
  t.throws(() => expressGate(api, { body: 'stream' }).guard(unrecorded), refused)
  t.throws(() => koaGate(api, { body: 'stream' }).guard(unrecorded), refused)
  t.throws(() => fastifyGate(api, { body: 'kept' }).hooks(unrecorded), refused)
  const gw = fetchGate(api, { body: 'clone', peer: 'none' })
  t.throws(() => gw.wrap(unrecorded, () => new Response()), refused)
  t.throws(() => gw.guard(unrecorded), refused)
  gw.handle(unrecorded, ({ json }) => ({ status: 200, body: json() }))
})
