// An Express server whose users sign in with the team's own identity provider (Auth0-style tokens). The guard
// checks the token, the scope, a limit and a policy per client; transfers have a daily cap that holds under load.
import { Fault, type Rule } from '@gatewright/kernel'
import {
  createGuard,
  remoteKeys,
  sessionReader,
  type Access,
  type Guard,
  type SpendStorage,
} from '@gatewright/scope-guard'
import express, { type ErrorRequestHandler, type Express, type RequestHandler, type Response } from 'express'

/** What the team configures. */
export interface ServerOptions {
  /** The identity provider's issuer, audience and key set. */
  readonly issuer: string
  readonly audience: string
  readonly jwksUrl: URL
  /** The policy of each client application, by its id (`azp`). */
  readonly policies: Readonly<Record<string, unknown>>
  /** Where spend caps count: memory for a try, Redis or Postgres for more than one process. */
  readonly spend: SpendStorage
}

/** Builds the guard over the provider's tokens. */
function guardFor({ issuer, audience, jwksUrl, policies, spend }: ServerOptions): Guard {
  return createGuard({
    issuer,
    audience,
    keys: remoteKeys(jwksUrl),
    readSession: sessionReader({ preset: 'auth0', key: 'client', policyIds: ({ azp }) => [String(azp)] }),
    // An id such as `__proto__` names no policy of the team's.
    policies: async ids =>
      ids.map(id => (Object.hasOwn(policies, id) ? policies[id] : { allowOperations: [] })),
    limits: [{ name: 'perClient', points: 100, windowSeconds: 60, per: 'key' }],
    spend,
  })
}

/** Guards a route: a request that may pass has its `Access` in `response.locals`. */
function guarded(guard: Guard, rule: Rule): RequestHandler {
  guard.prepare(rule)
  return async (request, response, next) => {
    const facts = {
      authorization: request.headers.authorization,
      ...(request.ip ? { address: request.ip } : {}),
    }
    const verdict = await guard.check(facts, rule)
    const headers = verdict.ok ? verdict.value.headers : verdict.headers
    for (const [name, value] of headers) response.setHeader(name, value)
    if (verdict.ok) {
      response.locals['access'] = verdict.value
      next()
    } else sendDenial(response, verdict)
  }
}

function sendDenial(
  response: Response,
  { status, code, message, details }: { status: number; code: string; message: string; details?: object },
): void {
  response.status(status).json({ error: code, message, ...details })
}

/** A broken world is a 503 that says when to come back, never a 401 or a 429. */
const onFault: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (!(error instanceof Fault)) return next(error)
  response.setHeader('Retry-After', String(error.retryAfterSeconds))
  response.status(503).json({ error: 'service_unavailable', message: 'Try again shortly' })
}

/** The whole server. */
export function createServer(options: ServerOptions): Express {
  const guard = guardFor(options)
  const app = express()
  app.use(express.json())

  app.get(
    '/cards',
    guarded(guard, { operation: 'cards.list', allOf: ['read:cards'] }),
    (_request, response) => {
      response.json({ cards: [] })
    },
  )

  const transfer: Rule = { operation: 'transfers.create', allOf: ['write:transfers'], spends: 'withdrawal' }
  // oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Express 5 hands a rejection to the error handler.
  app.post('/transfers', guarded(guard, transfer), async (request, response) => {
    const { amountCents } = request.body as { amountCents?: unknown }
    if (!Number.isSafeInteger(amountCents) || (amountCents as number) < 1) {
      response
        .status(400)
        .json({ error: 'invalid_request', message: 'amountCents must be a positive integer' })
      return
    }
    const access = response.locals['access'] as Access
    const hold = await guard.reserve(access, { amountCents: amountCents as number, currency: 'USD' })
    if (!hold.ok) return sendDenial(response, hold)
    // Here the money moves. If it fails for certain, `guard.release(hold.value)`; if it is unknown, keep the hold.
    try {
      await guard.settle(hold.value)
    } catch (error) {
      // The money has moved: a response that says "try again" would move it twice. The hold counts until it is settled.
      console.error('settle later', hold.value, error)
    }
    response.json({ transferred: amountCents })
  })

  app.use(onFault)
  return app
}
