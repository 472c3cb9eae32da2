import type { Session, Clock, EpochMs } from '@gatewright/kernel'
import { sha256 } from '@gatewright/kernel/internal/platform'
import { andThen } from './and-then.ts'
import type { AuthorizedRule, GuardFacts, VerifiedSession } from './access.ts'
import { readAuthorization } from './authorization.ts'
import type { Challenges } from './challenges.ts'
import type { GuardDenial } from './codes.ts'
import { bindingOf, createBindingCheck } from './dpop/check.ts'
import { createDirectFailureLimit, type DirectFailureLimit } from './rate-limits/failure-limit.ts'
import type { CheckedOptions } from './options.ts'
import type { ChainLoader, ChainPlace } from './policies/chain-loader.ts'
import type { Chain } from './policies/chain.ts'
import { createTokenCache, type TokenCache } from './token/cache.ts'
import { createPinnedKeyFinder } from './token/keys.ts'
import { createTokenVerifier, type TokenVerifier, type UnverifiedToken } from './token/verify.ts'

/**
 * Finds the session of an `Authorization` field in the cache, or verifies its token; then checks the proof of a bound token. The
 * session of a bound token has a `proof`, which the caller must claim before the request may proceed. Returns no promise for a
 * cached bearer token, nor for a new one that needs no I/O. Faults, thrown or rejected: those of the keys and of the policies.
 */
export type Authenticate = (
  facts: GuardFacts,
) => VerifiedSession | GuardDenial | Promise<VerifiedSession | GuardDenial>

/** The credential of a request. */
interface Credential {
  /** The `Authorization` field with its scheme spelled `Bearer`. */
  readonly authorization: string
  /** Its SHA-256, by which its session is cached. Undefined: the token is longer than `maxTokenBytes`. */
  readonly digest: string | undefined
}

/** The credential of one request, and what is cached of it. */
interface IdentifiedCredential {
  readonly credential: Credential
  readonly cached: CachedSession | undefined
  /** Whether its scheme is `Bearer`, not `DPoP`. */
  readonly isBearer: boolean
}

/** A verified session that later requests with the same token reuse. Its compiled policies are in another cache. */
interface CachedSession {
  readonly session: Session
  readonly scopes: ReadonlySet<string>
  readonly authorized: AuthorizedRule
  /** Where the compiled policies are cached. Undefined: they were not loaded yet. */
  chainPlace: ChainPlace | undefined
  /** The thumbprint of the key that the token is bound to; undefined if it is not bound. */
  readonly thumbprint: string | undefined
  /** From this instant on its token is verified again. */
  readonly freshUntil: EpochMs
  /** Until this instant the token counts as known: its next verification does not wait in the queue. */
  readonly keptUntil: EpochMs
}

interface Dependencies {
  readonly clock: Clock
  readonly cacheMs: number
  readonly challenges: Challenges
  readonly cache: TokenCache<CachedSession>
  readonly tokens: TokenVerifier
  readonly failures: DirectFailureLimit
}

const BEARER = 'Bearer '

/** The name of the budget of failed credentials in denials. */
const FAILURE_LIMIT = 'failedCredentialsPerAddress'

/** Makes the authentication of one guard. Throws a `TypeError` for a wrong option. */
export function createAuthenticate(
  options: CheckedOptions,
  challenges: Challenges,
  chains: ChainLoader,
): Authenticate {
  const { clock, maxTokenBytes, cacheSeconds, cacheBytes } = options
  const dependencies: Dependencies = {
    clock,
    cacheMs: cacheSeconds * 1000,
    challenges,
    cache: createTokenCache(cacheBytes, ({ session }) => session.scopes.length + session.policyIds.length),
    tokens: createTokenVerifier(
      createPinnedKeyFinder(options.keys, options.rsaAlgorithm),
      options,
      clock,
      challenges,
    ),
    failures: createDirectFailureLimit(FAILURE_LIMIT, options.failedCredentials, clock),
  }
  const checkBinding = createBindingCheck({
    dpop: options.dpop,
    clock,
    challenges,
    failures: dependencies.failures,
    toleranceMs: options.clockToleranceSeconds * 1000,
    storeTimeoutMs: options.storeTimeoutMs,
  })
  const maxLength = BEARER.length + maxTokenBytes
  const requiresBinding = options.dpop?.isRequired === true
  const identified = (authorization: string, isBearer: boolean): IdentifiedCredential => {
    const digest = authorization.length > maxLength ? undefined : sha256(authorization)
    const cached = digest === undefined ? undefined : dependencies.cache.get(digest)
    return { credential: { authorization, digest }, cached, isBearer }
  }
  const identify = (field: string | undefined): IdentifiedCredential | GuardDenial => {
    const asSpelled =
      typeof field === 'string' && field.startsWith(BEARER) ? identified(field, true) : undefined
    // What is cached is well-formed, so it is not read again.
    if (asSpelled?.cached) return asSpelled
    const read = readAuthorization(field)
    if (read.kind === 'none') return challenges.missing()
    // Without the option `dpop`, the scheme `DPoP` is unknown.
    if (read.kind === 'malformed')
      return read.scheme === 'DPoP' && !options.dpop ? challenges.missing() : challenges.malformed(read)
    const authorization = BEARER + read.token
    return asSpelled && authorization === field
      ? asSpelled
      : identified(authorization, read.scheme === 'Bearer')
  }
  const proveBinding = async (
    facts: GuardFacts,
    { credential: { authorization }, isBearer }: IdentifiedCredential,
    verified: CachedSession,
  ): Promise<VerifiedSession | GuardDenial> => {
    const proof = await checkBinding({
      facts,
      isDpopScheme: !isBearer,
      accessToken: authorization.slice(BEARER.length),
      thumbprint: verified.thumbprint,
    })
    if (isDenial(proof)) return proof
    const { session, scopes, chain, authorized } = await withCachedChain(chains, verified)
    return { session, scopes, chain, authorized, proof }
  }
  return facts => {
    const identity = identify(facts.authorization)
    if (isDenial(identity)) return identity
    const { credential, cached, isBearer } = identity
    const fresh = cached !== undefined && clock.now() < cached.freshUntil ? cached : undefined
    // Most requests have a cached bearer token.
    if (fresh !== undefined && isBearer && fresh.thumbprint === undefined && !requiresBinding) {
      const chain = fresh.chainPlace && chains.chainAt(fresh.chainPlace)
      if (chain !== undefined) return verifiedSession(fresh, chain)
    }
    return andThen(fresh ?? verifyToken(dependencies, credential, cached, facts.address), verified => {
      if (isDenial(verified)) {
        // Without the option `dpop`, the scheme `DPoP` is unknown, so its credentials are missing. Only the denial of a bound
        // token gives the reason.
        return isBearer || options.dpop || verified.status !== 401 ? verified : challenges.missing()
      }
      if (isBearer && verified.thumbprint === undefined)
        return requiresBinding ? challenges.unbound() : withCachedChain(chains, verified)
      return proveBinding(facts, identity, verified)
    })
  }
}

/** Adds the compiled policies of a session. Loads them if they were never loaded or were evicted. */
function withCachedChain(
  chains: ChainLoader,
  cached: CachedSession,
): VerifiedSession | Promise<VerifiedSession> {
  const found = cached.chainPlace && chains.chainAt(cached.chainPlace)
  if (found) return verifiedSession(cached, found)
  return andThen(chains.load(cached.session), ({ chain, place }) => {
    cached.chainPlace = place
    return verifiedSession(cached, chain)
  })
}

const verifiedSession = ({ session, scopes, authorized }: CachedSession, chain: Chain): VerifiedSession => ({
  session,
  scopes,
  chain,
  authorized,
  proof: undefined,
})

/** Verifies a token that has no fresh entry in the cache. */
function verifyToken(
  dependencies: Dependencies,
  { authorization, digest }: Credential,
  cached: CachedSession | undefined,
  address: string | undefined,
): CachedSession | GuardDenial | Promise<CachedSession | GuardDenial> {
  const { challenges, failures, cache } = dependencies
  if (digest !== undefined && cached !== undefined) {
    // The token was verified before: it does not wait in the queue, and a failure is not charged to the address.
    return andThen(
      verify(dependencies, authorization, digest, check => check()),
      result => {
        if (isDenial(result)) cache.delete(digest)
        return result
      },
    )
  }
  const charge = async (denial: GuardDenial): Promise<GuardDenial> => {
    await failures.charge(address)
    return denial
  }
  return andThen(
    digest === undefined
      ? challenges.invalid('token too long')
      : verify(dependencies, authorization, digest, check => failures.runWithinLimit(address, check)),
    result => (isDenial(result) && result.status === 401 ? charge(result) : result),
  )
}

/** Whether a result is a denial. */
export function isDenial(result: object): result is GuardDenial {
  return 'ok' in result
}

/** Runs the check of a signature when the failure limit lets it run. */
type RunWithinLimit = <T>(check: () => T | Promise<T>) => T | GuardDenial | Promise<T | GuardDenial>

function verify(
  dependencies: Dependencies,
  authorization: string,
  digest: string,
  runWithinLimit: RunWithinLimit,
): CachedSession | GuardDenial | Promise<CachedSession | GuardDenial> {
  const { clock, tokens, challenges, cache } = dependencies
  const startedAt = clock.now()
  return andThen(tokens.precheck(authorization.slice(BEARER.length)), token => {
    if (isDenial(token)) return token
    const outcome = runWithinLimit<CachedSession | boolean>(() => {
      // While this check waited, another request may have verified the same token.
      const cached = cache.get(digest)
      return cached && clock.now() < cached.freshUntil ? cached : tokens.isSigned(token)
    })
    return andThen(outcome, result => {
      if (typeof result === 'object') return result
      return result
        ? cacheSession(dependencies, digest, token, startedAt)
        : challenges.invalid('invalid signature')
    })
  })
}

/** Caches a token with a valid signature. Its times count from `startedAt`, before its key was looked up. */
function cacheSession(
  { clock, cacheMs, cache, tokens, challenges }: Dependencies,
  digest: string,
  token: UnverifiedToken,
  startedAt: EpochMs,
): CachedSession | GuardDenial {
  const session = tokens.sessionOf(token)
  if (isDenial(session)) return session
  const binding = bindingOf(token.claims)
  if (typeof binding === 'string') return challenges.invalid(binding)
  const cached: CachedSession = {
    session,
    thumbprint: binding.thumbprint,
    scopes: new Set(session.scopes),
    freshUntil: startedAt + cacheMs,
    keptUntil: startedAt + 2 * cacheMs,
    authorized: { lastRule: undefined },
    chainPlace: undefined,
  }
  cache.set(digest, cached, token.text.length, clock.now())
  return cached
}
