// What cannot work is said when an application starts, or works at the first use.
import Router from '@koa/router'
import express from 'express'
import Fastify from 'fastify'
import * as onExpress from 'gatewright/express'
import * as onFastify from 'gatewright/fastify'
import * as onFetch from 'gatewright/fetch'
import * as onHono from 'gatewright/hono'
import * as onKoa from 'gatewright/koa'
import { redisStore } from 'gatewright/redis'
import { Hono } from 'hono'
import { Redis } from 'ioredis'
import Koa from 'koa'
import { createServer, type RequestListener } from 'node:http'
import t, { type Test } from 'tap'
import { freePort } from '../harness/services.ts'
import { uniqueName } from '../harness/stores.ts'
import { createWorld, listening, type World } from './world.ts'

const WRITE = { scope: 'payments.write' } as const
const post = (authorization: string, key: string): RequestInit => ({
  method: 'POST',
  body: '{}',
  headers: { authorization, 'content-type': 'application/json', 'idempotency-key': key },
})

/** A client that connects on demand. */
function lazyClient(t: Test, url: string): Redis {
  const client = new Redis(url, { lazyConnect: true, enableOfflineQueue: false, maxRetriesPerRequest: 0 })
  client.on('error', () => {})
  t.teardown(() => client.disconnect())
  return client
}

/** Writes of several accounts at once, on a store whose client has not connected. */
async function writesAtOnce(client: Redis): Promise<number[]> {
  const { options, token } = createWorld(redisStore(client, { prefix: uniqueName() }))
  const gate = { report: () => {}, hint: false as const }
  const limits = [{ name: 'perKey', points: 100, windowSeconds: 60, per: 'key' }] as const
  const pay = onFetch
    .gatewright({ ...options, gate, limits, peer: 'none' })
    .write('payments.create', WRITE, () => ({ status: 201 }))
  const tokens = await Promise.all(['ann', 'bob', 'cas'].map(name => token('payments.write', name)))
  const responses = await Promise.all(
    tokens.map(each => pay(new Request('http://api.test/', post(`Bearer ${each}`, 'key-00000001')))),
  )
  return responses.map(({ status }) => status)
}

t.test('a client of ioredis with lazyConnect is connected by the first requests', async t => {
  const client = lazyClient(t, process.env['TEST_REDIS_URL'] as string)
  t.equal(client.status, 'wait')
  t.same(await writesAtOnce(client), [201, 201, 201])
})

t.test('a client of ioredis with lazyConnect that cannot connect is a store that is down', async t => {
  const client = lazyClient(t, `redis://127.0.0.1:${await freePort()}`)
  t.same(await writesAtOnce(client), [503, 503, 503])
})

const REPORTED = 'payments.create: its guard is mounted twice on one route'

/** Mounts a guard twice on a route, and resolves to the address. */
type Mount = (
  t: Test,
  options: World['options'],
  ran: () => void,
) => Promise<(request: RequestInit) => Promise<Response>>
async function on(t: Test, listener: RequestListener) {
  const server = await listening(createServer(listener).listen(0, '127.0.0.1'))
  t.teardown(() => server.close())
  return (request: RequestInit): Promise<Response> => fetch(server.url, request)
}
const MOUNTS: Readonly<Record<string, Mount>> = {
  async Express(t, options, ran) {
    const protect = onExpress.gatewright(options).protectWrite('payments.create', WRITE)
    return on(
      t,
      express().post('/', protect, protect, (_request, response) => {
        ran()
        response.json({})
      }),
    )
  },
  async Koa(t, options, ran) {
    const protect = onKoa.gatewright(options).protectWrite('payments.create', WRITE)
    const router = new Router()
    router.post('/', protect, protect, ctx => {
      ran()
      ctx.body = {}
    })
    return on(t, new Koa().use(router.routes()).callback())
  },
  async Hono(_t, options, ran) {
    const protect = onHono.gatewright({ ...options, peer: 'none' }).protectWrite('payments.create', WRITE)
    const app = new Hono()
    app.post('/', protect, protect, c => {
      ran()
      return c.json({})
    })
    return async request => app.request('/', request)
  },
  async Fastify(t, options, ran) {
    const gw = onFastify.gatewright(options)
    const { onRequest, ...protect } = gw.protectWrite('payments.create', WRITE)
    const app = Fastify()
    t.teardown(() => app.close())
    await app.register(gw.plugin)
    app.post('/', { ...protect, onRequest: [onRequest, onRequest] as never }, async () => {
      ran()
      return {}
    })
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    return request => fetch(url, request)
  },
}

for (const [name, mount] of Object.entries(MOUNTS))
  t.test(
    `${name}: a guard that is mounted twice on one route says so, and the handler does not run`,
    async t => {
      const { options, token } = createWorld()
      const failures: string[] = []
      let runs = 0
      const gate = {
        report: ({ error }: { readonly error: unknown }) => void failures.push((error as Error).message),
        hint: false as const,
      }
      const send = await mount(t, { ...options, gate } as World['options'], () => runs++)
      const response = await send(post(`Bearer ${await token('payments.write')}`, 'key-00000001'))
      t.equal(response.status, 500)
      t.equal(runs, 0)
      t.match(failures[0], REPORTED)
    },
  )
