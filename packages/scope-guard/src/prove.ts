import type { EpochMs } from '@gatewright/kernel'
import type { Proven } from './access.ts'
import type { Challenges } from './challenge.ts'
import type { GuardDenial } from './codes.ts'
import { createFailureLimit } from './limits/failure-limit.ts'
import type { CheckedOptions } from './options.ts'
import type { ChainLoader } from './policy/chain.ts'
import { tokenCache } from './token/cache.ts'
import { pinnedKeys } from './token/keys.ts'
import { tokenVerifier, type UnprovenToken } from './token/verify.ts'

/** Turns an `Authorization` field into a proven session: at once from the cache, else after verification. */
export type Prover = (
  authorization: string | undefined,
  address: string | undefined,
  now: EpochMs,
) => Proven | GuardDenial | Promise<Proven | GuardDenial>

const BEARER = 'Bearer '

/** What denials call the budget of failed credentials. */
const FAILURE_LIMIT = 'failedCredentialsPerAddress'

/**
 * The field with its scheme in the one spelling, or undefined where it is another scheme. It is read in any case
 * (RFC 9110 section 11.1), and all spellings are one credential: they must share an entry of the cache.
 */
function bearerOf(authorization: string): string | undefined {
  if (authorization.startsWith(BEARER)) return authorization
  const scheme = authorization.slice(0, BEARER.length)
  return scheme.toLowerCase() === 'bearer ' ? BEARER + authorization.slice(BEARER.length) : undefined
}

/** Whether what a prover answered is a denial. */
export function isDenial(found: Proven | GuardDenial): found is GuardDenial {
  return 'ok' in found
}

/** Builds the prover. Throws a `TypeError` for a wrong option. */
export function createProver(options: CheckedOptions, refuse: Challenges, chainOf: ChainLoader): Prover {
  const { clock, cacheSeconds, maxTokenBytes } = options
  const cache = tokenCache<Proven>(options.cacheEntries, options.cacheBytes)
  const keys = pinnedKeys(options.keys, options.rsaAlgorithm)
  const tokens = tokenVerifier(keys, options, clock, refuse)
  const failures = createFailureLimit(FAILURE_LIMIT, options.failedCredentials, clock)

  const fresh = (authorization: string): Proven | undefined => {
    const cached = cache.get(authorization)
    return cached && clock.now() < cached.until ? cached : undefined
  }

  /** Keeps a token whose signature holds, counted from `askedAt`: its key was looked up no earlier. */
  const accept = async (
    authorization: string,
    token: UnprovenToken,
    askedAt: EpochMs,
  ): Promise<Proven | GuardDenial> => {
    const session = tokens.sessionOf(token)
    if ('ok' in session) return session
    const chain = await chainOf(session.policyIds)
    const until = askedAt + cacheSeconds * 1000
    const scopes = new Set(session.scopes)
    const proven: Proven = {
      session,
      scopes,
      chain,
      until,
      keptUntil: until + cacheSeconds * 1000,
      met: undefined,
    }
    cache.set(authorization, proven, clock.now())
    return proven
  }

  const verify = async (
    authorization: string,
    address: string | undefined,
  ): Promise<Proven | GuardDenial> => {
    const askedAt = clock.now()
    const token = await tokens.precheck(authorization.slice(BEARER.length))
    if ('ok' in token) return token
    // While it waited, the same token may have been verified for another request.
    const check = async () => fresh(authorization) ?? tokens.isSigned(token)
    const found = await failures.admit(address, check)
    if (typeof found === 'object') return found
    return found ? accept(authorization, token, askedAt) : refuse.invalid('signature')
  }

  /** A token that is not known: a failure is charged to the address, whichever step finds it. */
  const prove = async (authorization: string, address: string | undefined): Promise<Proven | GuardDenial> => {
    const tooLong = authorization.length - BEARER.length > maxTokenBytes
    const found = tooLong ? refuse.invalid('token too long') : await verify(authorization, address)
    if (isDenial(found) && found.status === 401) await failures.charge(address)
    return found
  }

  /** A token that was verified before is no stranger's: it waits for nothing and charges nobody. */
  const proveAgain = async (authorization: string): Promise<Proven | GuardDenial> => {
    const found = await verify(authorization, undefined)
    if (isDenial(found)) cache.delete(authorization)
    return found
  }

  return (field, address, now) => {
    const authorization = typeof field === 'string' ? bearerOf(field) : undefined
    if (authorization === undefined) return refuse.missing()
    const cached = cache.get(authorization)
    if (cached === undefined) return prove(authorization, address)
    return now < cached.until ? cached : proveAgain(authorization)
  }
}
