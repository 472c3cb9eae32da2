// An existing handler gets its body under current names, since it was checked, limited and counted under them.
import { createServer, type Server } from 'node:http'
import { scopeCatalogue, type Verdict } from '@gatewright/kernel'
import { gate, type Decision, type OpenCall } from '@gatewright/http'
import type { AliasPort } from '#packages/http/dist/ports.js'
import { expressGate } from '@gatewright/http/express'
import { fastifyGate } from '@gatewright/http/fastify'
import { fetchGate } from '@gatewright/http/fetch'
import { koaGate } from '@gatewright/http/koa'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { migrateIdempotency, sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import { fromSqlite } from '@gatewright/kernel/sql'
import { migrateSpends, sqliteSpends } from '@gatewright/scope-guard/sqlite'
import { createAliases } from '@gatewright/legacy-alias-router'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import Database from 'libsql'
import t, { type Test } from 'tap'
import { bench } from '../../scope-guard/issuer.ts'
import { listen } from '../../harness/listen.ts'

const operation = 'cards.create'
const written = { operation, allOf: ['cards.write'] } as const
const mode = { deprecatedSince: Date.UTC(2026, 0, 1) }

const table = createAliases({
  requestFields: [
    { operation, from: 'cap', to: 'capCents', mode },
    { operation, from: 'limit', to: 'capCents', mode: 'gone' },
  ],
})
/** An alias port that does not say which operations have old field names. */
const ownPort: AliasPort = {
  resolve: facts => table.resolve(facts),
  readFields: (of, body) => table.readFields(of, body),
  responseHeaders: used => table.responseHeaders(used as never),
}

async function setUp(aliases: AliasPort = table) {
  const { guard, bearer } = await bench()
  const decisions: Decision[] = []
  const api = gate({
    guard,
    scopes: scopeCatalogue(['cards.write']),
    idempotency: createIdempotency({ storage: memoryIdempotency() }),
    aliases,
    observe: decision => decisions.push(decision),
  })
  const route = api.idempotent(written)
  return { api, route, decisions, authorization: await bearer({ scopes: ['cards.write'] }) }
}
type SetUp = Awaited<ReturnType<typeof setUp>>
type Send = (request: Request) => Promise<Response>

async function served(server: Server, t: Test): Promise<Send> {
  const url = await listen(t, server)
  return async request =>
    fetch(`${url}/cards`, {
      method: 'POST',
      headers: request.headers,
      body: await request.text(),
    })
}

/** Servers whose handler responds with the body that it got from its framework. */
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

const cases = Object.entries(servers).flatMap(([name, mount]) => [
  { name, mount, port: table },
  { name: `${name}, own alias port`, mount, port: ownPort },
])
for (const { name, mount, port } of cases) {
  t.test(
    `${name}: an existing handler gets current names, and the response says that an old one was used`,
    async t => {
      const made = await setUp(port)
      const send = await mount(made, t)
      // The same body has the same key.
      const post = async (body: object, key = `key-${Object.keys(body).join('-')}-of-a-card`) => {
        const headers = {
          authorization: made.authorization,
          'content-type': 'application/json',
          'idempotency-key': key,
        }
        const reply = await send(
          new Request('http://api.test/cards', { method: 'POST', headers, body: JSON.stringify(body) }),
        )
        const { headers: sent, status } = reply
        const { aliases } = made.decisions.at(-1) ?? {}
        return { status, body: await reply.json(), deprecation: sent.get('deprecation'), aliases }
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

for (const kind of ['recorded', 'transactional'] as const) {
  t.test(`${kind}: a replay announces the old names of its body, as the first response did`, async t => {
    const database = new Database(':memory:')
    t.teardown(() => database.close())
    const db = fromSqlite(database)
    await migrateIdempotency(db)
    await migrateSpends(db)
    const { guard, bearer } = await bench({
      policies: async ids => ids.map(id => ({ maxAuthAmountCents: Number(id) })),
      spend: sqliteSpends(db),
    })
    const api = gate({
      guard,
      scopes: scopeCatalogue(['cards.write']),
      aliases: ownPort,
      idempotency: createIdempotency({ storage: memoryIdempotency() }),
      transactions: createTransactionalIdempotency({ db, storage: tx => sqliteIdempotency(tx) }),
      spendStorage: tx => sqliteSpends(tx),
    })
    const { handle } = fetchGate(api, { body: 'stream', peer: 'none' })
    const create = async (
      { json }: OpenCall,
      reserve: (spend: { amountCents: number; currency: string }) => Promise<Verdict<unknown>>,
    ) => {
      const held = await reserve({ amountCents: 1, currency: 'USD' })
      return held.ok ? { status: 201, body: json() } : held
    }
    const spending = { ...written, spends: 'spend' } as const
    const send =
      kind === 'recorded'
        ? handle(api.idempotent(spending), async call =>
            create(call, async spend => {
              const held = await call.reserve(spend)
              if (held.ok) held.value.settle()
              return held
            }),
          )
        : handle(api.transactional(spending, async (call, { reserve }) => create(call, reserve)))
    const post = async (maxCents: string) => {
      const headers = {
        authorization: await bearer({ scopes: ['cards.write'], policyIds: [maxCents] }),
        'content-type': 'application/json',
        'idempotency-key': 'key-of-a-card',
      }
      const reply = await send(
        new Request('http://api.test/cards', { method: 'POST', headers, body: '{"cap":1}' }),
      )
      return [reply.status, reply.headers.get('idempotency-replayed'), reply.headers.get('deprecation')]
    }
    t.same(await post('1'), [201, null, '@1767225600'])
    t.same(await post('1'), [201, 'true', '@1767225600'])
    t.same(await post('0'), [403, null, '@1767225600'], 'also if it is denied')
  })
}

t.test('refuses to guard a handler whose body has old names and is not read', async t => {
  const { api } = await setUp()
  const unrecorded = api.guarded(written)
  const message = /cards\.create: the alias table renames fields of its body/
  t.throws(() => expressGate(api, { body: 'stream' }).guard(unrecorded), message)
  t.throws(() => koaGate(api, { body: 'stream' }).guard(unrecorded), message)
  t.throws(() => fastifyGate(api, { body: 'kept' }).hooks(unrecorded), message)
  const gw = fetchGate(api, { body: 'clone', peer: 'none' })
  t.throws(() => gw.wrap(unrecorded, () => new Response()), message)
  t.throws(() => gw.guard(unrecorded), message)
  gw.handle(unrecorded, ({ json }) => ({ status: 200, body: json() }))
})

const echo = ({ body }: OpenCall) => ({
  status: 200,
  body: JSON.parse(new TextDecoder().decode(body)) as unknown,
})
/** Servers whose handler reads its body itself, without idempotency. */
const unread: Readonly<Record<string, (setUp: SetUp, t: Test) => Promise<Send> | Send>> = {
  fetch({ api }) {
    const gw = fetchGate(api, { body: 'clone', peer: 'none' })
    return gw.wrap(api.guarded(written), async request => Response.json(await request.json()))
  },
  'Express, read by the handler'({ api }, t) {
    const app = express()
    app.use(express.json())
    app.post(
      '/cards',
      expressGate(api, { body: 'parsed' }).guard(api.guarded(written)),
      (request, response) => {
        response.json(request.body)
      },
    )
    return served(createServer(app), t)
  },
  'Express, handle'({ api }, t) {
    const app = express()
    const reply = expressGate(api, { body: 'stream' }).handle(api.guarded(written), echo)
    app.post('/cards', reply)
    return served(createServer(app), t)
  },
  'Koa, handle'({ api }, t) {
    const app = new Koa()
    const reply = koaGate(api, { body: 'stream' }).handle(api.guarded(written), echo)
    app.use(reply)
    return served(createServer(app.callback()), t)
  },
  async Fastify({ api }, t) {
    const gw = fastifyGate(api, { body: 'kept' })
    const app = fastify()
    await app.register(gw.plugin)
    app.post('/cards', gw.hooks(api.guarded(written)), async request => request.body)
    await app.ready()
    t.teardown(() => app.close())
    return served(app.server, t)
  },
}

for (const [name, mount] of Object.entries(unread)) {
  t.test(`${name}: a handler gets a JSON array with an alias port that may rename fields`, async t => {
    const made = await setUp(ownPort)
    const send = await mount(made, t)
    const headers = { authorization: made.authorization, 'content-type': 'application/json' }
    const reply = await send(
      new Request('http://api.test/cards', { method: 'POST', headers, body: '[{"cap":1}]' }),
    )
    t.same([reply.status, await reply.json()], [200, [{ cap: 1 }]])
  })
}
