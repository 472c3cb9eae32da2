import { All, Controller, Delete, Get, Module, Patch, Post, Put } from '@nestjs/common'
import Router from '@koa/router'
import express from 'express'
import Fastify from 'fastify'
import * as onExpress from 'gatewright/express'
import * as onFastify from 'gatewright/fastify'
import * as onFetch from 'gatewright/fetch'
import * as onHono from 'gatewright/hono'
import * as onKoa from 'gatewright/koa'
import { GatewrightModule, Read } from 'gatewright/nest'
import * as onNext from 'gatewright/next'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import Koa from 'koa'
import t from 'tap'
import { createApp, decorate, Root } from '../nest-app.ts'
import { createWorld, listening, type Listening, type World } from '../world.ts'

const CHANGING = ['POST', 'PUT', 'PATCH', 'DELETE']
const scope = 'payments.read'
const found = (): { status: number; body: object } => ({ status: 200, body: {} })

/** Starts a server whose `/read` and `/protected` are reads for every method, as far as their framework knows. */
type Start = (options: World['options'], more: object) => Promise<Listening>
const onAnyMethod: Readonly<Record<string, Start>> = {
  async Express(options, more) {
    const gw = onExpress.gatewright(options)
    const app = express()
    app.all('/read', gw.read('a.read', { scope, ...more }, found))
    app.use('/protected', gw.protectRead('b.read', { scope, ...more }), (_request, response) =>
      response.json({}),
    )
    return listening(app.listen(0, '127.0.0.1'))
  },
  async Koa(options, more) {
    const gw = onKoa.gatewright(options)
    const router = new Router()
    router.all('/read', gw.read('a.read', { scope, ...more }, found))
    router.all('/protected', gw.protectRead('b.read', { scope, ...more }), async ctx => void (ctx.body = {}))
    return listening(new Koa().use(router.routes()).listen(0, '127.0.0.1'))
  },
  async Hono(options, more) {
    const gw = onHono.gatewright({ ...options, peer: 'none' })
    const app = new Hono()
    app.all('/read', gw.read('a.read', { scope, ...more }, found))
    app.all('/protected', gw.protectRead('b.read', { scope, ...more }), context => context.json({}))
    return listening(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as never)
  },
  async 'Next.js and fetch'(options, more) {
    const gw = onNext.gatewright({ ...options, peer: 'none' })
    const fetchGw = onFetch.gatewright({ ...options, peer: 'none' })
    const read = gw.read('a.read', { scope, ...more }, found)
    const existing = fetchGw.protectRead('b.read', { scope, ...more }, () => Response.json({}))
    const fetch = async (request: Request): Promise<Response> =>
      request.url.endsWith('/read')
        ? read(request, { params: Promise.resolve({}) })
        : await existing(request, undefined)
    return listening(serve({ fetch, port: 0, hostname: '127.0.0.1' }) as never)
  },
}

t.test(
  'a read answers no request of a method that changes something, unless it names the method',
  async t => {
    for (const [name, start] of Object.entries(onAnyMethod)) {
      const world = createWorld()
      const errors: string[] = []
      const gate = { report: ({ error }: { error: unknown }) => void errors.push(String(error)) }
      const options = { ...world.options, gate, limits: [] }
      const servers = [await start(options, {}), await start(options, { methods: ['POST'] })]
      t.teardown(() => Promise.all(servers.map(server => server.close())))
      const authorization = `Bearer ${await world.token(scope)}`
      const statuses = async (url: string, path: string): Promise<unknown> =>
        Object.fromEntries(
          await Promise.all(
            ['GET', ...CHANGING].map(async method => {
              const { status } = await fetch(url + path, { method, headers: { authorization } })
              return [method, status] as const
            }),
          ),
        )
      for (const path of ['/read', '/protected']) {
        t.same(
          await statuses(servers[0]!.url, path),
          { GET: 200, POST: 500, PUT: 500, PATCH: 500, DELETE: 500 },
          `${name} ${path}`,
        )
        t.same(
          await statuses(servers[1]!.url, path),
          { GET: 200, POST: 200, PUT: 500, PATCH: 500, DELETE: 500 },
          `${name} ${path}, methods: POST`,
        )
      }
      t.equal(errors.length, 14, 'each is reported')
      t.match(errors[0], /TypeError: a\.read: a read is mounted for \w+, which changes something/)
      const { status } = await fetch(`${servers[0]!.url}/read`, { method: 'POST' })
      t.equal(status, 401, 'a stranger cannot fill the log')
    }
  },
)

t.test('Fastify: a read on such a method is a TypeError when its route is declared', async t => {
  const app = Fastify()
  const gw = onFastify.gatewright(createWorld().options)
  await app.register(gw.plugin)
  const wrong = /a\.read: a read is mounted for (POST|PUT|PATCH|DELETE), which changes something/
  const read = gw.read('a.read', { scope }, found)
  const hooks = gw.protectRead('b.read', { scope })
  for (const method of CHANGING) {
    t.throws(() => app.route({ method, url: `/${method}`, ...read }), wrong)
    t.throws(
      () => app.route({ method: ['GET', method], url: '/both', ...hooks, handler: () => ({}) }),
      /b\.read/,
    )
  }
  t.throws(() => app.all('/all', read as never), wrong)
  app.get('/get', read)
  app.post('/search', gw.read('c.search', { scope, methods: ['POST'] }, found))
  await app.close()
})

t.test('Nest: @Read on such a method is a TypeError when the application starts', async t => {
  const decorators = { Post, Put, Patch, Delete }
  for (const [name, decorator] of Object.entries({ ...decorators, Get, All })) {
    class Payments {
      list(): object {
        return {}
      }
    }
    Controller()(Payments)
    decorate(Payments, 'list', [decorator('payments'), Read('payments.list', { scope })])
    class App extends Root {}
    Module({ imports: [GatewrightModule.forRoot(createWorld().options)], controllers: [Payments] })(App)
    const made = createApp(App)
    if (name in decorators) await t.rejects(made, /payments\.list: a read is mounted for/, name)
    else await (await made).close()
  }
})

t.test('methods of a read must be methods that change something', t => {
  const gw = onFetch.gatewright({ ...createWorld().options, peer: 'none' })
  for (const methods of ['POST', ['GET'], ['post'], [undefined]])
    t.throws(
      () => gw.read('a.read', { scope, methods: methods as never }, found),
      /a\.read: methods must be a list of POST, PUT, PATCH, DELETE, got/,
    )
  t.throws(
    () => gw.write('a.write', { scope: [], methods: ['POST'] } as never, found),
    /unknown option "methods"/,
  )
  t.end()
})
