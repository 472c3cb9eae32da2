// An existing handler may read any parameter of the query, and a second payment of another amount must be made.
import { createServer, type Server } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import { gate } from '@gatewright/http'
import { expressGate } from '@gatewright/http/express'
import { fastifyGate } from '@gatewright/http/fastify'
import { fetchGate } from '@gatewright/http/fetch'
import { koaGate } from '@gatewright/http/koa'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { scopeCatalogue } from '@gatewright/kernel'
import { createAliases } from '@gatewright/legacy-alias-router'
import express from 'express'
import fc from 'fast-check'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import t, { type Test } from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { bench } from '../../scope-guard/issuer.ts'
import { listen } from '../../harness/listen.ts'

type Send = (request: Request) => Promise<Response>

async function setUp(options: { readonly compareQuery?: boolean } = {}) {
  const { guard, bearer } = await bench()
  const api = gate({
    guard,
    scopes: scopeCatalogue(['payments.write']),
    idempotency: createIdempotency({ storage: memoryIdempotency() }),
    aliases: createAliases({ paths: [{ mode: 'serve', from: '/old-payments', to: '/payments' }] }),
    accountOf: ({ session }, { header }) =>
      JSON.stringify([session.accountId, header('x-tenant-id') ?? null]),
  })
  const route = api.idempotent({ operation: 'payments.create', allOf: ['payments.write'] }, options)
  const authorization = await bearer({ scopes: ['payments.write'] })
  /** The queries of the payments that were made, as their handlers read them. */
  const payments: string[] = []
  const pay = (query: unknown): { readonly number: number } => ({ number: payments.push(String(query)) })
  return { api, route, authorization, payments, pay }
}
type SetUp = Awaited<ReturnType<typeof setUp>>

async function served(server: Server, t: Test): Promise<Send> {
  const base = await listen(t, server)
  return async ({ url, headers, ...request }) => {
    const { pathname, search } = new URL(url)
    return fetch(base + pathname + search, {
      ...request,
      method: 'POST',
      headers,
      body: '{}',
    })
  }
}

/** Servers with a handler that makes a payment of each query that it gets. */
const servers: Readonly<Record<string, (made: SetUp, t: Test) => Promise<Send> | Send>> = {
  fetch({ api, route, pay }) {
    const gw = fetchGate(api, { body: 'clone', peer: 'none' })
    const wrapped = gw.wrap(route, ({ url }) => Response.json(pay(new URL(url).search), { status: 201 }))
    return gw.aliases(request => wrapped(request))
  },
  Hono({ api, route, pay }) {
    const gw = fetchGate(api, { body: 'clone', peer: 'none' })
    const app = new Hono()
    app.post('/payments', gw.guard(route), c => c.json(pay(JSON.stringify(c.req.queries())), 201))
    return gw.aliases(app.fetch)
  },
  Express({ api, route, pay }, t) {
    const gw = expressGate(api, { body: 'stream' })
    const app = express()
    app.use(gw.aliases)
    app.post('/payments', gw.guard(route), (request, response) => {
      response.status(201).json(pay(JSON.stringify(request.query)))
    })
    return served(createServer(app), t)
  },
  'plain node http'({ api, route, pay }, t) {
    const gw = expressGate(api, { body: 'stream' })
    const guard = gw.guard(route)
    const server = createServer((request, response) =>
      gw.aliases(request, response, () =>
        guard(request, response, () => {
          response.writeHead(201, { 'content-type': 'application/json' })
          response.end(JSON.stringify(pay(request.url)))
        }),
      ),
    )
    return served(server, t)
  },
  Koa({ api, route, pay }, t) {
    const gw = koaGate(api, { body: 'stream' })
    const app = new Koa()
    app.use(gw.aliases)
    app.use(gw.guard(route))
    app.use(ctx => {
      ctx.status = 201
      ctx.body = pay(JSON.stringify(ctx.query))
    })
    return served(createServer(app.callback()), t)
  },
  async Fastify({ api, route, pay }, t) {
    const gw = fastifyGate(api, { body: 'kept' })
    const app = fastify({ rewriteUrl: gw.rewriteUrl })
    await app.register(gw.plugin)
    app.post('/payments', gw.hooks(route), async (request, reply) =>
      reply.code(201).send(pay(JSON.stringify(request.query))),
    )
    await app.ready()
    t.teardown(() => app.close())
    return served(app.server, t)
  },
}

/** Sends two requests with one key, and returns the second response. */
function sender({ authorization }: SetUp, send: Send) {
  return async (target: string, headers: Record<string, string> = {}) => {
    const fields = {
      authorization,
      'content-type': 'application/json',
      'idempotency-key': 'key-of-a-payment',
      ...headers,
    }
    const reply = await send(
      new Request(`http://api.test${target}`, { method: 'POST', headers: fields, body: '{}' }),
    )
    const body = (await reply.json()) as { readonly number?: number; readonly error?: string }
    return [reply.status, body.number ?? body.error, reply.headers.get('idempotency-replayed')]
  }
}

const MADE = [201, 1, null]
const REPLAYED = [201, 1, 'true']
/** The outcome of a second request: its status, its error if it has one, and whether it is a replay. */
type Outcome = readonly [status: number, error: string | undefined, replayed: string | null]
const SAME: Outcome = [201, undefined, 'true']
const OTHER: Outcome = [400, 'idempotency_key_reused', null]

/** Pairs of queries, and whether the second is the same write. */
const PAIRS: readonly (readonly [first: string, second: string, outcome: Outcome])[] = [
  ['?amount=10&to=a', '?amount=10&to=a', SAME],
  ['?amount=10&to=a', '?to=a&amount=10', SAME],
  ['?amount=10', '?amount=10&', SAME],
  ['', '?', SAME],
  ['?amount=10', '?amount=20', OTHER],
  ['?amount=10', '', OTHER],
  ['', '?amount=10', OTHER],
  ['?amount=10', '?amount=10&retry=1', OTHER],
  ['?amount=10', '?Amount=10', OTHER],
  ['?amount', '?amount=', OTHER],
  ['?to=a&to=b', '?to=a&to=b', SAME],
  ['?to=a&to=b', '?to=b&to=a', OTHER],
  ['?to=a&to=b', '?to=a', OTHER],
  ['?to=a', '?to=a&to=a', OTHER],
  ['?to=a&%74o=b', '?%74o=b&to=a', OTHER],
  ['?to=a&x=1&to=b', '?x=1&to=a&to=b', SAME],
  // Both decode to U+FFFD; frameworks give them to the handler as received.
  ['?to=%ff', '?to=%fe', OTHER],
  ['?to=1%2b1', '?to=1+1', OTHER],
  ['?a=1%26b=2', '?a=1&b=2', OTHER],
]

for (const [name, mount] of Object.entries(servers)) {
  t.test(`${name}: the whole query is part of a write in front of an existing handler`, async t => {
    const made = await setUp()
    const send = sender(made, await mount(made, t))
    for (const [index, [first, second, outcome]] of PAIRS.entries()) {
      const key = { 'idempotency-key': `key-of-pair-${index}` }
      const title = `${first || 'none'} and ${second || 'none'}`
      t.same(await send(`/payments${first}`, key), [201, index + 1, null], title)
      const [status, reply, replayed] = outcome
      t.same(await send(`/payments${second}`, key), [status, reply ?? index + 1, replayed], title)
      t.equal(made.payments.length, index + 1, title)
    }
  })

  t.test(`${name}: a second payment of another amount is made under its own key`, async t => {
    const made = await setUp()
    const send = sender(made, await mount(made, t))
    t.same(await send('/payments?amount=10'), MADE)
    t.same(await send('/payments?amount=20', { 'idempotency-key': 'key-of-another' }), [201, 2, null])
    t.same(await send('/old-payments?amount=10'), REPLAYED, 'an old path is the same write')
    t.same(await send('/old-payments?amount=20'), OTHER)
    t.equal(made.payments.length, 2)
  })

  t.test(`${name}: a route may say that its handler does not read the query`, async t => {
    const made = await setUp({ compareQuery: false })
    const send = sender(made, await mount(made, t))
    t.same(await send('/payments?attempt=1'), MADE)
    t.same(await send('/payments?attempt=2'), REPLAYED)
  })

  t.test(`${name}: a header that names the tenant separates writes by accountOf`, async t => {
    const made = await setUp()
    const send = sender(made, await mount(made, t))
    t.same(await send('/payments', { 'x-tenant-id': 'a' }), MADE)
    t.same(await send('/payments', { 'x-tenant-id': 'b' }), [201, 2, null])
    t.same(await send('/payments', { 'x-tenant-id': 'a' }), REPLAYED)
    t.same(await send('/payments'), [201, 3, null])
  })
}

t.test('two queries are one write exactly if each name has the same values in the same order', async t => {
  const parameter = fc.tuple(
    fc.constantFrom('a', '%61', 'b', '%ff', ''),
    fc.constantFrom('', '=', '=1', '=%31', '=1=1'),
  )
  const query = fc.array(parameter, { maxLength: 4 })
  const textOf = (parameters: readonly (readonly string[])[]): string =>
    `?${parameters.map(one => one.join('')).join('&')}`
  const valuesByName = (parameters: readonly (readonly string[])[]): Record<string, string[]> => {
    const values: Record<string, string[]> = {}
    for (const one of parameters.filter(each => each.join('') !== ''))
      (values[`name ${one[0]?.replace('%61', 'a')}`] ??= []).push(one.join(''))
    return values
  }
  const made = await setUp()
  const send = sender(made, await servers['fetch']!(made, t))
  let runs = 0
  await fc.assert(
    fc.asyncProperty(query, query, fc.boolean(), async (first, other, reorders) => {
      const second = reorders ? first.toReversed() : other
      const key = { 'idempotency-key': `key-of-run-${++runs}` }
      await send(`/payments${textOf(first)}`, key)
      const [status] = await send(`/payments${textOf(second)}`, key)
      const isSame = isDeepStrictEqual(valuesByName(first), valuesByName(second))
      return status === (isSame ? 201 : 400)
    }),
    { numRuns: randomCases(200) },
  )
})

t.test('compareQuery must be true or false', async t => {
  await t.rejects(setUp({ compareQuery: 'no' as never }), {
    name: 'TypeError',
    message: /payments.create: compareQuery must be true or false, got "no"/,
  })
})
