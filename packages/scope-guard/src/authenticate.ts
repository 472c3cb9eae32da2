import type { Clock, EpochMs } from '@gatewright/kernel'
import type { VerifiedSession } from './access.ts'
import type { Challenges } from './challenge.ts'
import type { GuardDenial } from './codes.ts'
import { createFailureLimit, type FailureLimit } from './limits/failure-limit.ts'
import type { CheckedOptions } from './options.ts'
import type { ChainLoader } from './policy/chain.ts'
import { tokenCache, type TokenCache } from './token/cache.ts'
import { pinnedKeys } from './token/keys.ts'
import { tokenVerifier, type TokenVerifier, type UnprovenToken } from './token/verify.ts'

/** Finds the session of an `Authorization` field: in the cache, else by verifying its token. */
export type Authenticate = (
  authorization: string | undefined,
  address: string | undefined,
) => Promise<VerifiedSession | GuardDenial>

/** A verified session that serves later requests with the same token. */
interface CachedSession extends VerifiedSession {
  /** From here on its token is verified anew. */
  readonly until: EpochMs
  /** Until here it is known as one that was verified before: its next verification does not wait. */
  readonly keptUntil: EpochMs
}

/** What authentication works with. */
interface Parts {
  readonly clock: Clock
  readonly cacheMs: number
  readonly maxTokenBytes: number
  readonly challenges: Challenges
  readonly cache: TokenCache<CachedSession>
  readonly tokens: TokenVerifier
  readonly failures: FailureLimit
  readonly chainOf: ChainLoader
}

const BEARER = 'Bearer '

/** What denials call the budget of failed credentials. */
const FAILURE_LIMIT = 'failedCredentialsPerAddress'

/** Builds the authentication of one guard. Throws a `TypeError` for a wrong option. */
export function createAuthenticate(
  options: CheckedOptions,
  challenges: Challenges,
  chainOf: ChainLoader,
): Authenticate {
  const { clock, maxTokenBytes, cacheSeconds, cacheEntries, cacheBytes } = options
  const parts: Parts = {
    clock,
    cacheMs: cacheSeconds * 1000,
    maxTokenBytes,
    challenges,
    cache: tokenCache(cacheEntries, cacheBytes),
    tokens: tokenVerifier(pinnedKeys(options.keys, options.rsaAlgorithm), options, clock, challenges),
    failures: createFailureLimit(FAILURE_LIMIT, options.failedCredentials, clock),
    chainOf,
  }
  return async (field, address) => {
    const authorization = typeof field === 'string' ? bearerOf(field) : undefined
    if (authorization === undefined) return challenges.missing()
    const cached = parts.cache.get(authorization)
    if (cached === undefined) return verifyUnknown(parts, authorization, address)
    return clock.now() < cached.until ? cached : verifyAgain(parts, authorization)
  }
}

/** Whether what was found is a denial. */
export function isDenial(found: object): found is GuardDenial {
  return 'ok' in found
}

/**
 * The field with its scheme in the one spelling, or undefined where it is another scheme. It is read in any case
 * (RFC 9110 section 11.1), and all spellings are one credential: they must share an entry of the cache.
 */
function bearerOf(authorization: string): string | undefined {
  if (authorization.startsWith(BEARER)) return authorization
  const scheme = authorization.slice(0, BEARER.length)
  return scheme.toLowerCase() === 'bearer ' ? BEARER + authorization.slice(BEARER.length) : undefined
}

/** Verifies a token that is not known. A failure is charged to the address, whichever step finds it. */
async function verifyUnknown(
  parts: Parts,
  authorization: string,
  address: string | undefined,
): Promise<VerifiedSession | GuardDenial> {
  const tooLong = authorization.length - BEARER.length > parts.maxTokenBytes
  const found = tooLong
    ? parts.challenges.invalid('token too long')
    : await verify(parts, authorization, address)
  if (isDenial(found) && found.status === 401) await parts.failures.charge(address)
  return found
}

/** Verifies a token that was verified before: no stranger sent it, so it waits for nothing and charges nobody. */
async function verifyAgain(parts: Parts, authorization: string): Promise<VerifiedSession | GuardDenial> {
  const found = await verify(parts, authorization, undefined)
  if (isDenial(found)) parts.cache.delete(authorization)
  return found
}

async function verify(
  parts: Parts,
  authorization: string,
  address: string | undefined,
): Promise<VerifiedSession | GuardDenial> {
  const { clock, tokens, failures, challenges } = parts
  const askedAt = clock.now()
  const token = await tokens.precheck(authorization.slice(BEARER.length))
  if (isDenial(token)) return token
  const found = await failures.admit(address, async () => {
    // While it waited, the same token may have been verified for another request.
    const cached = parts.cache.get(authorization)
    return cached && clock.now() < cached.until ? cached : tokens.isSigned(token)
  })
  if (typeof found === 'object') return found
  return found ? keep(parts, authorization, token, askedAt) : challenges.invalid('signature')
}

/** Keeps a token whose signature holds, counted from `askedAt`: its key was looked up no earlier. */
async function keep(
  { clock, cacheMs, cache, tokens, chainOf }: Parts,
  authorization: string,
  token: UnprovenToken,
  askedAt: EpochMs,
): Promise<VerifiedSession | GuardDenial> {
  const session = tokens.sessionOf(token)
  if (isDenial(session)) return session
  const kept: CachedSession = {
    session,
    scopes: new Set(session.scopes),
    chain: await chainOf(session.policyIds),
    until: askedAt + cacheMs,
    keptUntil: askedAt + 2 * cacheMs,
    lastAuthorizedRule: undefined,
  }
  cache.set(authorization, kept, clock.now())
  return kept
}
