import { addressBucket } from '../address.ts'
import { createLimiter, takeAnyhow } from './limiter.ts'
import type { LimitState } from './fields.ts'
import type { LimiterStore } from './options.ts'

/** The budget of a client address for credentials that do not prove themselves. */
export interface FailureOptions {
  /** Failures per window and address (IPv4, or IPv6 /64). Default 60. */
  readonly points?: number
  /** Default 60. */
  readonly windowSeconds?: number
  /** Where it counts. Default: this process's memory, which also serves while the store is down. */
  readonly store?: LimiterStore
}

/**
 * Counts failed credentials by client address. It is asked only for tokens that the cache does not know, so a
 * session in use never meets it; and no key or account is ever charged, so nobody can use up another's budget.
 */
export interface FailureBudget {
  /** Takes one point before the verification; undefined when there is no address to charge. */
  take(address: string | undefined): Promise<Charge> | undefined
}

/** A point of the budget, until it is known whether the credential is good. */
export interface Charge {
  /** The used-up budget, when it is. */
  readonly over: LimitState | undefined
  /** For a credential that was not at fault. */
  giveBack(): Promise<void>
}

const NAME = 'failedCredentialsPerAddress'

/** Builds the budget. Throws a `TypeError` for a wrong option. */
export function createFailureBudget(options: FailureOptions | 'off'): FailureBudget {
  if (options === 'off') return { take: () => undefined }
  const { points = 60, windowSeconds = 60, store } = options
  const limiter = createLimiter({
    name: NAME,
    points,
    windowSeconds,
    per: 'address',
    ...(store ? { store, localPoints: points } : {}),
  })
  /** The budget spares work and guards no money, so a store that is down does not close the door. */
  const charge = async (bucket: string): Promise<Charge> => {
    const askedAt = performance.now()
    const { by, taken } = await takeAnyhow(limiter, bucket)
    return { over: taken.refused, giveBack: () => by.giveBack(bucket, taken, askedAt) }
  }
  return { take: address => (address === undefined ? undefined : charge(addressBucket(address))) }
}
