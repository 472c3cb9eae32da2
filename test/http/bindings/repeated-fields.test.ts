// A header field that an answer has twice, such as Link or Set-Cookie, is sent twice on every server, and also in a replay.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { scopeCatalogue } from '@gatewright/kernel'
import { gate } from '@gatewright/http'
import { expressGate } from '@gatewright/http/express'
import { fastifyGate } from '@gatewright/http/fastify'
import { fetchGate } from '@gatewright/http/fetch'
import { koaGate } from '@gatewright/http/koa'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryStorage } from '@gatewright/idempotency-store/memory'
import express from 'express'
import fastify from 'fastify'
import Koa from 'koa'
import t, { type Test } from 'tap'
import { bench } from '../../scope-guard/issuer.ts'

const LINKS = ['<https://docs.test/a>; rel="help"', '<https://docs.test/b>; rel="help"'] as const
const COOKIES = ['a=1', 'b=2'] as const
const answer = {
  status: 201,
  headers: [
    ...LINKS.map(value => ['Link', value] as const),
    ...COOKIES.map(value => ['Set-Cookie', value] as const),
  ],
  body: { made: true },
}

async function setUp() {
  const { guard, bearer } = await bench()
  const idempotency = createIdempotency({ storage: memoryStorage() })
  const api = gate({ guard, idempotency, scopes: scopeCatalogue(['cards.write']) })
  const route = api.idempotent({ operation: 'cards.create', allOf: ['cards.write'] })
  return { api, route, authorization: await bearer({ scopes: ['cards.write'] }) }
}
type SetUp = Awaited<ReturnType<typeof setUp>>
type Send = (request: Request) => Promise<Response>

async function served(server: Server, t: Test): Promise<Send> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  return async ({ headers }) =>
    fetch(`http://127.0.0.1:${port}/cards`, { method: 'POST', headers, body: '{}' })
}

const servers: Readonly<Record<string, (setUp: SetUp, t: Test) => Promise<Send> | Send>> = {
  fetch: ({ api, route }) => fetchGate(api, { body: 'stream', peer: 'none' }).handle(route, () => answer),
  Express({ api, route }, t) {
    const app = express()
    app.post(
      '/cards',
      expressGate(api, { body: 'stream' }).handle(route, () => answer),
    )
    return served(createServer(app), t)
  },
  'an existing Express handler'({ api, route }, t) {
    const app = express()
    app.post('/cards', expressGate(api, { body: 'stream' }).guard(route), (_request, response) => {
      for (const link of LINKS) response.append('Link', link)
      for (const cookie of COOKIES) response.append('Set-Cookie', cookie)
      response.status(201).json({ made: true })
    })
    return served(createServer(app), t)
  },
  Koa({ api, route }, t) {
    const app = new Koa()
    app.use(koaGate(api, { body: 'stream' }).handle(route, () => answer))
    return served(createServer(app.callback()), t)
  },
  async Fastify({ api, route }, t) {
    const gw = fastifyGate(api, { body: 'kept' })
    const app = fastify()
    await app.register(gw.plugin)
    app.post(
      '/cards',
      gw.handle(route, () => answer),
    )
    await app.ready()
    t.teardown(() => app.close())
    return served(app.server, t)
  },
}

for (const [name, mount] of Object.entries(servers)) {
  t.test(`${name}: repeated header fields are all sent`, async t => {
    const made = await setUp()
    const send = await mount(made, t)
    const post = async () => {
      const headers = {
        ...{ authorization: made.authorization, 'idempotency-key': 'key-of-a-card' },
        'content-type': 'application/json',
      }
      const { status, headers: sent } = await send(
        new Request('http://api.test/cards', { method: 'POST', headers, body: '{}' }),
      )
      return [status, sent.get('link'), sent.getSetCookie(), sent.get('idempotency-replayed')]
    }
    t.same(await post(), [201, LINKS.join(', '), COOKIES, null])
    t.same(await post(), [201, LINKS.join(', '), [], 'true'], 'a cookie is never stored')
  })
}
