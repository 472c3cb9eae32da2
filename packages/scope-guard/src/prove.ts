import type { Proven } from './access.ts'
import { rateLimited } from './access.ts'
import type { Challenges } from './challenge.ts'
import type { GuardDenial } from './codes.ts'
import { createFailureBudget } from './limits/failures.ts'
import type { CheckedOptions } from './options.ts'
import { loadChain } from './policy/chain.ts'
import { tokenCache } from './token/cache.ts'
import { pinnedKeys } from './token/keys.ts'
import { verifyToken } from './token/verify.ts'

/** Turns an `Authorization` field into a proven session: at once from the cache, else after verification. */
export type Prover = (
  authorization: string | undefined,
  address: string | undefined,
) => Proven | GuardDenial | Promise<Proven | GuardDenial>

const BEARER = 'bearer '

/** Whether what a prover answered is a denial. */
export function isDenial(found: Proven | GuardDenial): found is GuardDenial {
  return 'ok' in found
}

/** Builds the prover. Throws a `TypeError` for a wrong option. */
export function createProver(options: CheckedOptions, refuse: Challenges): Prover {
  const { clock, cacheSeconds, maxTokenBytes, policies } = options
  const cache = tokenCache<Proven>(options.cacheEntries, options.cacheBytes)
  const keys = pinnedKeys(options.keys, options.rsaAlgorithm)
  const budget = createFailureBudget(options.failedCredentials)

  const verify = async (token: string, now: number): Promise<Proven | GuardDenial> => {
    const session = await verifyToken(token, keys, options, clock, refuse)
    if ('ok' in session) return session
    const chain = await loadChain(session.policyIds, policies)
    const proven = { session, scopes: new Set(session.scopes), chain }
    cache.set(token, proven, now + cacheSeconds * 1000)
    return proven
  }

  const verifyWithinBudget = async (token: string, address: string | undefined, now: number) => {
    const taken = await budget.take(address)
    if (taken?.over) return rateLimited(taken.state, [])
    let failed = false
    try {
      const found = await verify(token, now)
      failed = isDenial(found) && found.code === 'unauthorized'
      return found
    } finally {
      if (!failed) await taken?.giveBack()
    }
  }

  return (authorization, address) => {
    if (typeof authorization !== 'string') return refuse.missing()
    if (authorization.slice(0, BEARER.length).toLowerCase() !== BEARER) return refuse.missing()
    const token = authorization.slice(BEARER.length)
    if (token.length > maxTokenBytes) return refuse.invalid('token too long')
    const now = clock.now()
    return cache.get(token, now) ?? verifyWithinBudget(token, address, now)
  }
}
