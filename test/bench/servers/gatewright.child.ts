// An Express server with one read that a token and a rate limit guard: by the package gatewright, or by the packages that
// teams use for it today.
import { createServer } from 'node:http'
import express, { type RequestHandler } from 'express'
import { localKeys } from '@gatewright/scope-guard'
import { gatewright, memoryStore } from 'gatewright/express'
import type { JWK } from 'jose'
import { tool } from '../../harness/tools.ts'
import { serve } from '../serve.ts'
import { BENCH_AUDIENCE, BENCH_ISSUER } from '../tokens.ts'

const [kind, jwkText] = process.argv.slice(2) as [string, string]
const jwk = JSON.parse(jwkText) as JWK
const SCOPE = 'cards.read'
const BODY = { ok: true }
/** More requests than a sample sends. */
const POINTS = 1_000_000
const app = express()

if (kind === 'gatewright') {
  const gw = gatewright({
    issuer: BENCH_ISSUER,
    audience: BENCH_AUDIENCE,
    store: memoryStore(),
    limits: [{ name: 'perKey', points: POINTS, windowSeconds: 60, per: 'key' }],
    guard: { keys: localKeys({ keys: [jwk] }) },
  })
  app.get(
    '/cards',
    gw.read('cards.list', { scope: SCOPE }, () => ({ status: 200, body: BODY })),
  )
} else {
  const { auth, requiredScopes } = await tool<{
    auth(options: object): RequestHandler
    requiredScopes(scopes: string): RequestHandler
  }>('express-oauth2-jwt-bearer')
  const { rateLimit } = await tool<{ rateLimit(options: object): RequestHandler }>('express-rate-limit')
  app.get('/jwks', (_, response) => void response.json({ keys: [jwk] }))
  let check: RequestHandler | undefined
  const authenticate: RequestHandler = (request, response, next) => {
    check ??= auth({
      issuer: BENCH_ISSUER,
      audience: BENCH_AUDIENCE,
      jwksUri: `http://127.0.0.1:${request.socket.localPort}/jwks`,
      tokenSigningAlg: 'ES256',
    })
    void check(request, response, next)
  }
  const limit = rateLimit({
    limit: POINTS,
    windowMs: 60_000,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    keyGenerator: (request: { auth: { payload: { sub: string } } }) => request.auth.payload.sub,
  })
  app.get('/cards', authenticate, requiredScopes(SCOPE), limit, (_, response) => void response.json(BODY))
}

serve(createServer(app))
