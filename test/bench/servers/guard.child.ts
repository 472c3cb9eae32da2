// One server per process: a framework with 60 routes, bare, guarded by ours or by what is usual there. Equal
// checks: ES256 signature, issuer, audience, expiry, one scope. `koa-guard-full` has a limit and policies on top.
import { createPublicKey, type JsonWebKey } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createGuard, localKeys, type GuardOptions } from '@gatewright/scope-guard'
import { getRequestListener } from '@hono/node-server'
import Router from '@koa/router'
import express from 'express'
import Fastify, { type FastifyPluginAsync } from 'fastify'
import { Hono, type MiddlewareHandler } from 'hono'
import { verify as honoVerify } from 'hono/jwt'
import type { JWK } from 'jose'
import Koa, { type Middleware } from 'koa'
import { tool } from '../../harness/tools.ts'
import { serve } from '../serve.ts'
import { BENCH_AUDIENCE, BENCH_ISSUER } from '../tokens.ts'

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown

const [kind, jwkText] = process.argv.slice(2) as [string, string]
const jwk = JSON.parse(jwkText) as JWK
const ROUTES = Array.from({ length: 60 }, (_, n) => `/r${n}/cards`)
const BODY = { ok: true }
const SCOPE = 'cards.read'
const holds = (claims: object): boolean =>
  'scope' in claims && typeof claims.scope === 'string' && claims.scope.split(' ').includes(SCOPE)

const options: GuardOptions = {
  issuer: BENCH_ISSUER,
  audience: BENCH_AUDIENCE,
  keys: localKeys({ keys: [jwk] }),
  policies: async ids => ids.map(() => ({})),
  limits: [],
  typ: kind.startsWith('hono') ? 'JWT' : 'at+jwt',
}
const guard = createGuard(options)
const rule = { operation: 'cards.list', allOf: [SCOPE] }
const publicKey = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' })
const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string

const reply: Middleware = ctx => {
  ctx.body = BODY
}

function koa(handler: Middleware, ...before: Middleware[]): Listener {
  const app = new Koa()
  const router = new Router()
  for (const path of ROUTES) router.get(path, ...(before as never[]), handler as never)
  app.use(router.routes())
  return app.callback()
}

/** A handler behind a guard, as the package's README mounts it on Koa, without the address: no limit here asks it. */
const guardedBy = (by: typeof guard, handler: Middleware): Middleware => {
  return async (ctx, next) => {
    const verdict = await by.check({ authorization: ctx.req.headers.authorization }, rule)
    const headers = verdict.ok ? verdict.value.headers : verdict.headers
    for (const [name, value] of headers) ctx.res.setHeader(name, value)
    if (verdict.ok) return handler(ctx, next)
    ctx.status = verdict.status
    return undefined
  }
}

const koaScope: Middleware = (ctx, next) => {
  if (holds(ctx.state['user'] as object)) return next()
  ctx.status = 403
  return undefined
}

async function fastify(how: string): Promise<Listener> {
  let handle: Listener | undefined
  const app = Fastify({
    serverFactory: handler => {
      handle = handler
      return createServer()
    },
  })
  if (how === 'guard') {
    app.addHook('onRequest', async (request, reply) => {
      const verdict = await guard.check({ authorization: request.headers.authorization }, rule)
      if (!verdict.ok) return reply.code(verdict.status).send()
      return undefined
    })
  }
  if (how === 'peer') {
    const verify = { allowedIss: BENCH_ISSUER, allowedAud: BENCH_AUDIENCE, cache: 1000 }
    const { default: fastifyJwt } = await tool<{ default: FastifyPluginAsync<object> }>('@fastify/jwt')
    await app.register(fastifyJwt, { secret: { public: pem }, verify } as object)
    app.addHook('onRequest', async (request, reply) => {
      const claims = await (request as unknown as { jwtVerify(): Promise<object> }).jwtVerify()
      if (!holds(claims)) return reply.code(403).send()
      return undefined
    })
  }
  for (const path of ROUTES) app.get(path, async () => BODY)
  await app.ready()
  return handle as Listener
}

/** What is used of express-oauth2-jwt-bearer. */
interface ExpressBearer {
  auth(options: object): express.RequestHandler
  requiredScopes(scopes: string): express.RequestHandler
}

async function expressApp(how: string): Promise<Listener> {
  const app = express()
  app.get('/jwks', (_, response) => void response.json({ keys: [jwk] }))
  if (how === 'guard') {
    // oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Express 5 hands a rejection to the error handler.
    app.use(async (request, response, next) => {
      const verdict = await guard.check({ authorization: request.headers.authorization }, rule)
      if (verdict.ok) next()
      else response.status(verdict.status).end()
    })
  }
  if (how === 'peer') {
    const { auth, requiredScopes } = await tool<ExpressBearer>('express-oauth2-jwt-bearer')
    let check: express.RequestHandler | undefined
    app.use((request, response, next) => {
      check ??= auth({
        issuer: BENCH_ISSUER,
        audience: BENCH_AUDIENCE,
        jwksUri: `http://127.0.0.1:${request.socket.localPort}/jwks`,
        tokenSigningAlg: 'ES256',
      })
      void check(request, response, next)
    }, requiredScopes(SCOPE))
  }
  for (const path of ROUTES) app.get(path, (_, response) => void response.json(BODY))
  return app
}

function hono(how: string): Listener {
  const app = new Hono()
  const guarded: MiddlewareHandler = async (c, next) => {
    const verdict = await guard.check({ authorization: c.req.header('authorization') }, rule)
    if (!verdict.ok) return c.body(null, verdict.status as 401)
    return next()
  }
  // hono's jwt() checks no audience; verify() from the same module does all equal checks but the scope.
  const peer: MiddlewareHandler = async (c, next) => {
    const token = c.req.header('authorization')?.slice(7) ?? ''
    const claims = await honoVerify(token, jwk, {
      alg: 'ES256',
      iss: BENCH_ISSUER,
      aud: BENCH_AUDIENCE,
    })
    return holds(claims) ? next() : c.body(null, 403)
  }
  if (how === 'guard') app.use(guarded)
  if (how === 'peer') app.use(peer)
  for (const path of ROUTES) app.get(path, c => c.json(BODY))
  return getRequestListener(app.fetch)
}

const documents: Record<string, unknown> = {
  pol_root: { denyOperations: ['withdrawals.*'], maxAuthAmountCents: 100_000 },
  pol_leaf: { allowOperations: ['cards.*', 'subscriptions.*'], notAfter: '2099-01-01T00:00:00Z' },
}
const full = createGuard({
  ...options,
  policies: async ids => ids.map(id => documents[id]),
  limits: [{ name: 'guardedPerKeyPerMinute', points: 1_000_000_000, windowSeconds: 86_400, per: 'key' }],
})
const checks = {
  secret: publicKey as never,
  issuer: BENCH_ISSUER,
  audience: BENCH_AUDIENCE,
  algorithms: ['ES256'],
}

const [framework, how = ''] = kind.split(/-(.*)/)
const made: Record<string, () => Listener | Promise<Listener>> = {
  'koa-bare': () => koa(reply),
  'koa-guard-full': () => koa(guardedBy(full, reply)),
  'koa-jwt': async () => {
    const { default: koaJwt } = await tool<{ default: (options: object) => Middleware }>('koa-jwt')
    return koa(reply, koaJwt(checks), koaScope)
  },
  fastify: () => fastify(how),
  express: () => expressApp(how),
  hono: () => hono(how),
}
const listener = await (made[kind] ?? made[framework as string])?.()
if (!listener) throw new Error(`no server ${kind}`)
serve(createServer((request, response) => void listener(request, response)))
