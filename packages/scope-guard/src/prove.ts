import type { EpochMs } from '@gatewright/kernel'
import type { Proven } from './access.ts'
import { rateLimited } from './access.ts'
import type { Challenges } from './challenge.ts'
import type { GuardDenial } from './codes.ts'
import { createFailureBudget, type Charge } from './limits/failures.ts'
import type { CheckedOptions } from './options.ts'
import type { ChainLoader } from './policy/chain.ts'
import { tokenCache } from './token/cache.ts'
import { pinnedKeys } from './token/keys.ts'
import { tokenVerifier } from './token/verify.ts'

/** Turns an `Authorization` field into a proven session: at once from the cache, else after verification. */
export type Prover = (
  authorization: string | undefined,
  address: string | undefined,
  now: EpochMs,
) => Proven | GuardDenial | Promise<Proven | GuardDenial>

const BEARER = 'Bearer '

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
  const sessionOf = tokenVerifier(keys, options, clock, refuse)
  const budget = createFailureBudget(options.failedCredentials)

  const verify = async (authorization: string, now: EpochMs): Promise<Proven | GuardDenial> => {
    const session = await sessionOf(authorization.slice(BEARER.length))
    if ('ok' in session) return session
    const chain = await chainOf(session.policyIds)
    const until = now + cacheSeconds * 1000
    const proven: Proven = { session, scopes: new Set(session.scopes), chain, until, met: undefined }
    cache.set(authorization, proven, now)
    return proven
  }

  const verifyWithin = async (charge: Promise<Charge>, authorization: string, now: EpochMs) => {
    const { over, giveBack } = await charge
    if (over) return rateLimited(over, [])
    let failed = false
    try {
      const found = await verify(authorization, now)
      failed = isDenial(found) && found.code === 'unauthorized'
      return found
    } finally {
      if (!failed) await giveBack()
    }
  }

  return (field, address, now) => {
    const authorization = typeof field === 'string' ? bearerOf(field) : undefined
    if (authorization === undefined) return refuse.missing()
    if (authorization.length - BEARER.length > maxTokenBytes) return refuse.invalid('token too long')
    const cached = cache.get(authorization, now)
    if (cached) return cached
    const charge = budget.take(address)
    return charge ? verifyWithin(charge, authorization, now) : verify(authorization, now)
  }
}
