// The guard on a cached token against the same checks written by hand, jose and fast-jwt's cache; a token seen
// for the first time against raw jose and fast-jwt.
import { hash } from 'node:crypto'
import { createGuard, localKeys, type GuardOptions } from '@gatewright/scope-guard'
import { exportSPKI, importJWK, jwtVerify, type CryptoKey } from 'jose'
import { LRUCache } from 'lru-cache'
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { compare } from './harness.ts'
import { BENCH_AUDIENCE, BENCH_ISSUER, benchTokens } from './tokens.ts'
import { tool } from '../harness/tools.ts'

const { tokens, jwk } = await benchTokens(500)
const key = (await importJWK(jwk, 'ES256', { extractable: true })) as CryptoKey
// A header field is a fresh text on every request; a text that was hashed or compared before would be cheaper.
const bytes = tokens.map(token => Buffer.from(`Bearer ${token}`, 'latin1'))
const fresh = (index: number): string => (bytes[index % bytes.length] as Buffer).toString('latin1')

const documents: Record<string, unknown> = {
  pol_root: { denyOperations: ['withdrawals.*'], maxAuthAmountCents: 100_000 },
  pol_leaf: { allowOperations: ['cards.*', 'subscriptions.*'], notAfter: '2099-01-01T00:00:00Z' },
}
const options: GuardOptions = {
  issuer: BENCH_ISSUER,
  audience: BENCH_AUDIENCE,
  keys: localKeys({ keys: [jwk] }),
  policies: async ids => ids.map(id => documents[id]),
  limits: [{ name: 'guardedPerKeyPerMinute', points: 1_000_000_000, windowSeconds: 86_400, per: 'key' }],
  cacheSeconds: 3600,
}
const rule = { operation: 'cards.list', allOf: ['cards.read'], surface: 'user' } as const
const guard = createGuard(options)

/** The same checks as one function for this one route, with the same libraries: what a team would write by hand. */
function byHand(): (authorization: string) => Promise<unknown> {
  interface Caller {
    readonly keyId: string
    readonly exp: number
    readonly surface: unknown
    readonly scopes: ReadonlySet<string>
  }
  const cache = new LRUCache<string, Caller>({ max: 10_000 })
  const limiter = new RateLimiterMemory({ keyPrefix: 'hand', points: 1_000_000_000, duration: 86_400 })
  const policyField = '"hand";q=1000000000;w=86400'
  const denied = (operation: string): boolean => operation.startsWith('withdrawals.')
  const allowed = (operation: string): boolean =>
    operation.startsWith('cards.') || operation.startsWith('subscriptions.')
  const until = Date.parse('2099-01-01T00:00:00Z')
  return async authorization => {
    if (authorization.slice(0, 7).toLowerCase() !== 'bearer ') return undefined
    const token = authorization.slice(7)
    if (token.length > 4096) return undefined
    const now = Date.now()
    const digest = hash('sha256', token, 'latin1' as 'hex')
    let caller = cache.get(digest)
    if (!caller) {
      const { payload } = await jwtVerify(token, key, { issuer: BENCH_ISSUER, audience: BENCH_AUDIENCE })
      const { client_id, exp, scope, gw_surface } = payload as Record<string, unknown>
      const scopes = new Set((scope as string).split(' '))
      caller = { keyId: client_id as string, exp: exp as number, surface: gw_surface, scopes }
      cache.set(digest, caller)
    }
    if (now >= caller.exp * 1000 || caller.surface !== 'user') return undefined
    if (!caller.scopes.has('cards.read')) return undefined
    let state: RateLimiterRes
    try {
      state = await limiter.consume(caller.keyId)
    } catch {
      return undefined
    }
    if (denied('cards.list') || !allowed('cards.list') || now >= until) return undefined
    const reset = Math.ceil(state.msBeforeNext / 1000)
    return {
      caller,
      headers: [
        ['RateLimit-Policy', policyField],
        ['RateLimit', `"hand";r=${state.remainingPoints};t=${reset}`],
      ],
    }
  }
}
const hand = byHand()

for (let n = 0; n < tokens.length; n++) {
  const verdict = await guard.check({ authorization: fresh(n) }, rule)
  if (!verdict.ok || verdict.value.headers.length !== 2) throw new Error('the bench measures a denial')
  if ((await hand(fresh(n))) === undefined) throw new Error('the peer denies')
}
const verification = {
  issuer: BENCH_ISSUER,
  audience: BENCH_AUDIENCE,
  typ: 'at+jwt',
  algorithms: ['ES256'],
  requiredClaims: ['exp', 'iat'],
}

await compare('scope-guard: cached token, one memory limit, fields, chain of two', {
  ours: { name: 'guard.check', run: n => guard.check({ authorization: fresh(n) }, rule), atMostMicros: 3 },
  peers: [{ name: 'the same by hand', run: n => hand(fresh(n)), minRatio: 1 / 1.2 }],
  operations: 200_000,
})

await compare('scope-guard: against a jose ES256 verification', {
  ours: { name: 'guard.check', run: n => guard.check({ authorization: fresh(n) }, rule) },
  peers: [{ name: 'jose', run: n => jwtVerify(fresh(n).slice(7), key, verification), minRatio: 28 }],
  operations: 10_000,
})

interface FastJwt {
  createVerifier(options: object): (token: string) => unknown
}
const { createVerifier } = await tool<FastJwt>('fast-jwt')
const fastJwt = createVerifier({
  key: await exportSPKI(key),
  cache: 1000,
  allowedIss: BENCH_ISSUER,
  allowedAud: BENCH_AUDIENCE,
})
for (let n = 0; n < tokens.length; n++) {
  const verdict = await guard.authenticate({ authorization: fresh(n) })
  if (!verdict.ok) throw new Error('the bench measures a denial')
}
await compare('scope-guard: cached verification', {
  ours: { name: 'guard.authenticate', run: n => guard.authenticate({ authorization: fresh(n) }) },
  peers: [{ name: 'fast-jwt with its cache', run: n => fastJwt(fresh(n).slice(7)), minRatio: 2 }],
  operations: 200_000,
})

/** Algorithms with the most that a token seen for the first time may cost, as a share of raw jose. */
const FIRST_SEEN = [
  ['RS256', 0.5],
  ['ES256', 0.65],
  ['EdDSA', 0.75],
] as const
for (const [algorithm, share] of FIRST_SEEN) {
  // Sessions without policies, as jose has none to load; a small cache: no token is found in it when its turn comes again.
  const unseen = await benchTokens(500, { policyIds: [], algorithm })
  const cold = createGuard({ ...options, keys: localKeys({ keys: [unseen.jwk] }), cacheBytes: 65_536 })
  const publicKey = (await importJWK(unseen.jwk, algorithm, { extractable: true })) as CryptoKey
  const spki = await exportSPKI(publicKey)
  const fastJwtWith = (cache: number | false): ((token: string) => unknown) =>
    createVerifier({
      key: spki,
      cache,
      algorithms: [algorithm],
      allowedIss: BENCH_ISSUER,
      allowedAud: BENCH_AUDIENCE,
    })
  const uncached = fastJwtWith(false)
  const filling = fastJwtWith(100)
  const token = (index: number): string => unseen.tokens[index % unseen.tokens.length] as string
  // Made before, as the tokens are: a text that is put together in the loop is copied at its first use, which only ours would pay.
  const fields = unseen.tokens.map(text => Buffer.from(`Bearer ${text}`).toString('latin1'))
  const field = (index: number): string => fields[index % fields.length] as string
  const rules = { ...verification, algorithms: [algorithm] }
  const verdict = await cold.authenticate({ authorization: field(0) })
  if (!verdict.ok) throw new Error('the bench measures a denial')
  await compare(`scope-guard: token seen for the first time, ${algorithm}`, {
    ours: {
      name: 'guard.authenticate',
      run: n => cold.authenticate({ authorization: field(n) }),
    },
    peers: [
      { name: 'raw jose', run: n => jwtVerify(token(n), publicKey, rules), minRatio: 1 / share },
      { name: 'fast-jwt without its cache', run: n => uncached(token(n)) },
      // As ours, it looks for the token, does not find it, and caches it.
      { name: 'fast-jwt with its cache', run: n => filling(token(n)) },
    ],
    operations: 4000,
    rounds: 15,
  })
}
