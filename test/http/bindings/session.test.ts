// `session(request)` of each binding: for middleware that serves many routes.
import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { Session, Verdict } from '@gatewright/kernel'
import { gate } from '@gatewright/http'
import { expressGate } from '@gatewright/http/express'
import { fastifyGate } from '@gatewright/http/fastify'
import { fetchGate } from '@gatewright/http/fetch'
import { koaGate } from '@gatewright/http/koa'
import { memoryNonces } from '@gatewright/signature-verifier/memory'
import express from 'express'
import fastify from 'fastify'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose'
import Koa from 'koa'
import t, { type Test } from 'tap'
import { bench, claims, session, sign } from '../../scope-guard/issuer.ts'
import { listen } from '../../harness/listen.ts'

type Send = (headers: Record<string, string>) => Promise<Response>

async function setUp() {
  const { guard, bearer, clock, key } = await bench({
    limits: [{ name: 'perKey', points: 2, windowSeconds: 60, per: 'key' }],
    dpop: { nonces: memoryNonces(), origin: 'https://api.test' },
  })
  const calls: string[] = []
  const counted: typeof guard = {
    ...guard,
    async authenticate(facts) {
      calls.push('authenticate')
      return guard.authenticate(facts)
    },
    async check(facts, rule) {
      calls.push('check')
      return guard.check(facts, rule)
    },
  }
  const api = gate({ guard: counted })
  const seen: Verdict<Session>[] = []
  const see = async (ask: () => Promise<Verdict<Session>>): Promise<void> => {
    // Asked twice at once, as by two middlewares.
    seen.push(...(await Promise.all([ask(), ask()])))
  }
  const route = api.guarded({ operation: 'cards.list', allOf: ['cards.read'] })
  return { api, route, bearer, clock, key, calls, seen, see }
}
type World = Awaited<ReturnType<typeof setUp>>

async function served(server: Server, t: Test): Promise<Send> {
  const url = await listen(t, server)
  return headers => fetch(`${url}/cards`, { headers })
}

const done = () => ({ status: 200 })
const servers: Record<string, (world: World, t: Test) => Promise<Send>> = {
  Express({ api, route, see }, t) {
    const gw = expressGate(api, { body: 'stream' })
    const app = express()
    // oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Express 5 takes the promise
    app.use(async (request, _response, next) => {
      await see(() => gw.session(request))
      next()
    })
    app.get('/cards', gw.handle(route, done))
    return served(createServer(app), t)
  },
  Koa({ api, route, see }, t) {
    const gw = koaGate(api, { body: 'stream' })
    const app = new Koa()
    app.use(async (ctx, next) => {
      await see(() => gw.session(ctx))
      return next()
    })
    app.use(gw.handle(route, done))
    return served(createServer(app.callback()), t)
  },
  async Fastify({ api, route, see }, t) {
    const gw = fastifyGate(api, { body: 'kept' })
    const app = fastify()
    app.register(gw.plugin)
    app.addHook('onRequest', async request => see(() => gw.session(request)))
    app.route({ method: 'GET', url: '/cards', ...gw.handle(route, done) })
    await app.ready()
    return served(app.server, t)
  },
  async fetch({ api, route, see }) {
    const gw = fetchGate(api, { body: 'clone', peer: 'none' })
    const handle = gw.handle(route, done)
    return async headers => {
      const request = new Request('http://api.test/cards', { headers })
      await see(() => gw.session(request))
      return handle(request)
    }
  },
}

for (const [name, start] of Object.entries(servers)) {
  t.test(`${name}: authenticates once before the guard, and counts nothing`, async t => {
    const world = await setUp()
    const send = await start(world, t)
    const authorization = await world.bearer({ scopes: ['cards.read'] })
    for (const _ of [1, 2]) t.equal((await send({ authorization })).status, 200)
    t.same(world.calls, ['authenticate', 'check', 'authenticate', 'check'])
    t.match(
      world.seen,
      [1, 2, 3, 4].map(() => ({ ok: true, value: { accountId: 'acc_1' } })),
    )
    t.equal((await send({ authorization })).status, 429, 'of two points, each call has used one')
    t.match(world.seen[4], { ok: true }, 'no limit applies to the session itself')
  })

  t.test(`${name}: says why there is no session, and checks no scope`, async t => {
    const world = await setUp()
    const send = await start(world, t)
    t.equal((await send({})).status, 401)
    t.match(world.seen[0], { ok: false, code: 'unauthorized', status: 401 })
    t.equal((await send({ authorization: await world.bearer({ scopes: [] }) })).status, 403)
    t.match(world.seen[2], { ok: true, value: { scopes: [] } })
  })
}

t.test('returns the session that a guard of the same request has accepted, without asking again', async t => {
  const { api, route, calls, bearer } = await setUp()
  const gw = fetchGate(api, { body: 'clone', peer: 'none' })
  let found: Verdict<Session> | undefined
  const handle = gw.wrap(route, async request => {
    found = await gw.session(request)
    return new Response()
  })
  const authorization = await bearer({ scopes: ['cards.read'] })
  await handle(new Request('http://api.test/cards', { headers: { authorization } }))
  t.match(found, { ok: true, value: { accountId: 'acc_1' } })
  t.same(calls, ['check'])
})

t.test(
  'a DPoP proof that the session has used up still satisfies the guard of its request, and no other',
  async t => {
    const { api, route, clock, key } = await setUp()
    const gw = fetchGate(api, { body: 'clone', peer: 'none' })
    const { publicKey, privateKey } = await generateKeyPair('ES256')
    const jwk = await exportJWK(publicKey)
    const bound = { ...claims(session(clock.now())), cnf: { jkt: await calculateJwkThumbprint(jwk) } }
    const token = await sign(key, bound)
    const ath = createHash('sha256').update(token).digest('base64url')
    const proof = await new SignJWT({
      jti: '1',
      htm: 'GET',
      htu: 'https://api.test/cards',
      ath,
      iat: clock.now() / 1000,
    })
      .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk })
      .sign(privateKey)
    const handle = gw.handle(route, done)
    const make = (): Request =>
      new Request('https://api.test/cards', { headers: { authorization: `DPoP ${token}`, dpop: proof } })
    const first = make()
    t.match(await gw.session(first), { ok: true })
    t.equal((await handle(first)).status, 200)
    const again = make()
    t.match(await gw.session(again), { ok: false, code: 'invalid_dpop_proof' })
    t.equal((await handle(again)).status, 401)
  },
)

t.test('rejects for a gate without a guard, and after a fault asks again', async t => {
  const none = fetchGate(gate(), { body: 'clone', peer: 'none' })
  const request = (): Request => new Request('https://api.test/cards')
  await t.rejects(none.session(request()), {
    name: 'TypeError',
    message: /session\(request\) needs the option guard/,
  })
  const { guard } = await bench()
  let down = true
  const authenticate: typeof guard.authenticate = async facts => {
    if (down) throw new Error('down')
    return guard.authenticate(facts)
  }
  const gw = fetchGate(gate({ guard: { ...guard, authenticate } }), { body: 'clone', peer: 'none' })
  const one = request()
  await t.rejects(gw.session(one), { message: 'down' })
  down = false
  t.match(await gw.session(one), { ok: false, code: 'unauthorized' })
})
