import { createServer, type Server } from 'node:http'
import { scopeCatalogue } from '@gatewright/kernel'
import { gate } from '@gatewright/http'
import { expressGate } from '@gatewright/http/express'
import { fetchGate } from '@gatewright/http/fetch'
import { koaGate } from '@gatewright/http/koa'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import { migrateIdempotency, sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { fromSqlite } from '@gatewright/kernel/sql'
import { createAliases } from '@gatewright/legacy-alias-router'
import express from 'express'
import { Hono } from 'hono'
import Koa from 'koa'
import Database from 'libsql'
import t, { type Test } from 'tap'
import { bench } from '../../scope-guard/issuer.ts'
import { listen } from '../../harness/listen.ts'

const rule = { operation: 'bills.pay', allOf: ['bills.write'] } as const

/** Pays bills, in a record of its own and in one transaction with the rows. */
async function setUp(t: { teardown(end: () => void): void }) {
  const database = new Database(':memory:')
  t.teardown(() => database.close())
  const db = fromSqlite(database)
  await migrateIdempotency(db)
  const { guard, bearer } = await bench()
  const api = gate({
    guard,
    scopes: scopeCatalogue(['bills.write']),
    idempotency: createIdempotency({ storage: memoryIdempotency() }),
    transactions: createTransactionalIdempotency({ db, storage: tx => sqliteIdempotency(tx) }),
  })
  const { handle } = fetchGate(api, { body: 'stream', peer: 'none' })
  const effects = new Set<string>()
  const paid = (bill: unknown, effectId: string) => {
    effects.add(effectId)
    return { status: 200, body: { paid: bill } }
  }
  // Any query: what counts is that it is declared.
  const query = {
    '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
  } as const
  const mounts = {
    recorded: handle(api.idempotent(rule, { query }), ({ params, effect }) =>
      paid(params['bill'], effect.effectId),
    ),
    transactional: handle(
      api.transactional(rule, async ({ params }, { effectId }) => paid(params['bill'], effectId), { query }),
    ),
    undeclared: handle(api.idempotent(rule), ({ params, effect }) => paid(params['bill'], effect.effectId)),
  }
  const authorization = await bearer({ scopes: ['bills.write'] })
  const pay = async (mount: keyof typeof mounts, bill: string, search = '') => {
    const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': `key-${mount}` }
    const url = `http://api.test/bills/${bill}/pay${search}`
    const request = new Request(url, { method: 'POST', headers, body: '{}' })
    const reply = await mounts[mount](request, undefined, { bill })
    const replayed = reply.headers.get('idempotency-replayed') === 'true'
    return { status: reply.status, replayed, body: (await reply.json()) as object }
  }
  return { pay, effects }
}

for (const mount of ['recorded', 'transactional'] as const) {
  t.test(
    `${mount}: one key for two resources is a conflict, and never the response about the other`,
    async t => {
      const { pay, effects } = await setUp(t)
      t.match(await pay(mount, 'A'), { status: 200, replayed: false, body: { paid: 'A' } })
      const reused = { status: 400, body: { error: 'idempotency_key_reused' } }
      t.match(await pay(mount, 'B'), reused, 'another resource')
      t.match(await pay(mount, 'A', '?twice=yes'), reused, 'a query')
      t.match(await pay(mount, 'A'), { status: 200, replayed: true, body: { paid: 'A' } })
      t.equal(effects.size, 1)
    },
  )

  t.test(`${mount}: the order of names in the query makes no difference`, async t => {
    const { pay } = await setUp(t)
    await pay(mount, 'A', '?a=1&b=2')
    t.match(await pay(mount, 'A', '?b=2&a=1'), { status: 200, replayed: true })
    t.match(await pay(mount, 'A', '?b=1&a=2'), { status: 400 })
  })
}

t.test('a query that the route does not declare makes no difference', async t => {
  const { pay } = await setUp(t)
  await pay('undeclared', 'A', '?retry=1')
  t.match(await pay('undeclared', 'A', '?retry=2'), { status: 200, replayed: true })
  t.match(await pay('undeclared', 'B', '?retry=3'), { status: 400 })
})

/** A server in front of existing handlers that pay the last bill in the path, guarded where the framework knows no path parameters. */
const mounts: Readonly<Record<string, (api: Api, t: Test) => Promise<Send> | Send>> = {
  'a Hono middleware'(api) {
    const gw = fetchGate(api, { body: 'clone', peer: 'none' })
    const app = new Hono()
    app.use('/bills/*', gw.guard(api.idempotent(rule)))
    app.post('/bills/:bill/pay', c => c.json({ paid: c.req.param('bill') }))
    return gw.aliases(app.fetch)
  },
  'a handler without parameters, as in Next.js and Workers'(api) {
    const gw = fetchGate(api, { body: 'clone', peer: 'none' })
    const existing = async ({ url }: Request): Promise<Response> =>
      Response.json({ paid: url.split('/').at(-2) })
    // What follows the environment of a Worker is no parameter.
    const wrapped = gw.wrap(api.idempotent(rule), existing)
    return gw.aliases((request, env) => wrapped(request, env, new Headers() as never))
  },
  'an Express router below a parameter'(api, t) {
    const gw = expressGate(api, { body: 'stream' })
    const below = express.Router()
    below.post('/pay', gw.guard(api.idempotent(rule)), (request, response) => {
      response.json({ paid: request.baseUrl.split('/').at(-1) })
    })
    const app = express()
    app.use(gw.aliases)
    app.use('/bills/:bill', below)
    return served(createServer(app), t)
  },
  'a Koa middleware before the router'(api, t) {
    const gw = koaGate(api, { body: 'stream' })
    const app = new Koa()
    app.use(gw.aliases)
    app.use(gw.guard(api.idempotent(rule)))
    app.use(ctx => {
      ctx.body = { paid: ctx.path.split('/').at(-2) }
    })
    return served(createServer(app.callback()), t)
  },
}
type Api = Awaited<ReturnType<typeof existing>>['api']
type Send = (request: Request) => Promise<Response>

async function existing() {
  const { guard, bearer } = await bench()
  const idempotency = createIdempotency({ storage: memoryIdempotency() })
  const aliases = createAliases({ prefixes: [{ mode: 'serve', from: '/old', to: '/bills' }] })
  const api = gate({ guard, idempotency, aliases, scopes: scopeCatalogue(['bills.write']) })
  return { api, authorization: await bearer({ scopes: ['bills.write'] }) }
}

async function served(server: Server, t: Test): Promise<Send> {
  const url = await listen(t, server)
  return async request => {
    const { pathname } = new URL(request.url)
    const init = { method: request.method, headers: request.headers, body: await request.text() }
    return fetch(`${url}${pathname}`, init)
  }
}

for (const [name, mount] of Object.entries(mounts)) {
  t.test(
    `denies a key that was used for another resource, and replays a retry by an old path: ${name}`,
    async t => {
      const { api, authorization } = await existing()
      const send = await mount(api, t)
      const pay = async (path: string): Promise<unknown[]> => {
        const headers = {
          authorization,
          'content-type': 'application/json',
          'idempotency-key': 'key-of-a-bill',
        }
        const reply = await send(
          new Request(`http://api.test${path}`, { method: 'POST', headers, body: '{}' }),
        )
        const { paid } = (await reply.json()) as { paid?: string }
        return [reply.status, paid, reply.headers.get('idempotency-replayed')]
      }
      t.same(await pay('/bills/A/pay'), [200, 'A', null])
      t.same(await pay('/bills/B/pay'), [400, undefined, null])
      t.same(await pay('/bills/A/pay'), [200, 'A', 'true'])
      t.same(await pay('/old/A/pay'), [200, 'A', 'true'])
    },
  )
}

t.test('aliases refuse to be mounted below a path, of which they would see only the rest', async t => {
  const { api } = await existing()
  const router = express.Router({ mergeParams: true })
  router.use(expressGate(api, { body: 'stream' }).aliases)
  const errors: unknown[] = []
  const app = express()
  app.use('/accounts/:id', router)
  app.use((error: unknown, _request: unknown, response: express.Response, _next: unknown) => {
    errors.push(error)
    response.sendStatus(500)
  })
  const send = await served(createServer(app), t)
  await send(new Request('http://api.test/accounts/7/old/A', { method: 'POST', body: '{}' }))
  t.match(errors, [
    { name: 'TypeError', message: /app\.use\(aliases\), not in a router below \/accounts\/7$/ },
  ])

  const koa = new Koa()
  const failures: unknown[] = []
  koa.on('error', failure => failures.push(failure))
  koa.use(mounted('/eu', koaGate(api, { body: 'stream' }).aliases as unknown as Koa.Middleware))
  const sendKoa = await served(createServer(koa.callback()), t)
  await sendKoa(new Request('http://api.test/eu/old/A', { method: 'POST', body: '{}' }))
  t.match(failures, [{ name: 'TypeError', message: /app\.use\(aliases\), not below \/eu$/ }])
})

t.test('aliases translate requests that a mounted middleware before them has let through', async t => {
  const { api } = await existing()
  const paths: string[] = []
  const app = new Koa()
  app.use(mounted('/old', (_ctx, next) => next()))
  app.use(koaGate(api, { body: 'stream' }).aliases)
  app.use(ctx => void paths.push(ctx.path))
  const send = await served(createServer(app.callback()), t)
  await send(new Request('http://api.test/old/A', { method: 'POST', body: '{}' }))

  const below = express()
  below.use('/old', (_request, _response, next) => next())
  below.use(expressGate(api, { body: 'stream' }).aliases)
  below.use((request, response) => {
    paths.push(request.path)
    response.end()
  })
  const sendExpress = await served(createServer(below), t)
  await sendExpress(new Request('http://api.test/old/A', { method: 'POST', body: '{}' }))
  t.same(paths, ['/bills/A', '/bills/A'])
})

t.test(
  'aliases refuse a path that was rewritten before a Koa mount, of which it may be only the rest',
  async t => {
    const { api } = await existing()
    const app = new Koa()
    const failures: unknown[] = []
    app.on('error', failure => failures.push(failure))
    app.use((ctx, next) => {
      ctx.path = `/eu${ctx.path}`
      return next()
    })
    app.use(mounted('/eu', (_ctx, next) => next()))
    app.use(koaGate(api, { body: 'stream' }).aliases)
    const send = await served(createServer(app.callback()), t)
    await send(new Request('http://api.test/old/A', { method: 'POST', body: '{}' }))
    t.match(failures, [{ name: 'TypeError', message: /before a middleware that changes ctx\.path/ }])
  },
)

/** Does what koa-mount does: removes a path for the middleware below it, but not what it has set in the context. */
function mounted(prefix: string, below: Koa.Middleware): Koa.Middleware {
  return async (ctx, next) => {
    if (!ctx.path.startsWith(`${prefix}/`)) return next()
    const { path } = ctx
    const rest = path.slice(prefix.length)
    Object.assign(ctx, { mountPath: prefix, path: rest })
    await below(ctx, async () => {
      ctx.path = path
      await next()
      ctx.path = rest
    })
    ctx.path = path
    return undefined
  }
}

t.test('one Koa application below two paths has two resources of each name', async t => {
  const { api, authorization } = await existing()
  const pay = koaGate(api, { body: 'stream' }).handle(api.idempotent(rule), ({ facts }) => ({
    status: 200,
    body: { paid: facts.path },
  })) as unknown as Koa.Middleware
  const app = new Koa()
  app.use(mounted('/eu', pay))
  app.use(mounted('/us', pay))
  const send = await served(createServer(app.callback()), t)
  const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': 'key-of-a-bill' }
  const post = async (path: string): Promise<number> =>
    (await send(new Request(`http://api.test${path}`, { method: 'POST', headers, body: '{}' }))).status
  t.same([await post('/eu/bills/A/pay'), await post('/us/bills/A/pay')], [200, 400])
})
