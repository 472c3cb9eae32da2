import type { HeaderField } from '@gatewright/http'
import { allow, type Verdict } from '@gatewright/kernel'
import { createRateLimit, type GuardOptions, type LimiterStore } from '@gatewright/scope-guard'
import type { Config } from './config/config.ts'

/** Limits on operations that no session guards. Each takes one request of a bucket. */
export interface EntryLimits {
  /** By client address, before a wallet's proof is looked at. */
  bootstrap(address: string): Promise<Verdict<readonly HeaderField[]>>
  /** By document and client address. */
  document(documentAndAddress: string): Promise<Verdict<readonly HeaderField[]>>
  /** By API key, after it is proven. */
  mint(keyId: string): Promise<Verdict<readonly HeaderField[]>>
  /** By client address, after an API key did not prove itself. No key's own budget is touched. */
  failedKey(address: string): Promise<Verdict<readonly HeaderField[]>>
}

interface LimitedBackend {
  readonly limiter?: LimiterStore
}

const free = async (): Promise<Verdict<readonly HeaderField[]>> => allow([])
const shared = ({ limiter }: LimitedBackend): { store?: LimiterStore } => (limiter ? { store: limiter } : {})

/** The limits of guarded requests (contract section 11), by the names that header fields show. */
export function guardLimits(
  { rateLimits }: Config,
  backend: LimitedBackend,
): Pick<GuardOptions, 'limits' | 'failedCredentials'> {
  if (rateLimits === 'off') return { limits: [], failedCredentials: 'off' }
  const { guardedPerKeyPerMinute, writesPerSessionPerMinute, failedCredentialsPerAddressPerMinute } =
    rateLimits
  const window = { windowSeconds: 60, ...shared(backend) }
  return {
    limits: [
      { name: 'guardedPerKeyPerMinute', points: guardedPerKeyPerMinute, per: 'key', ...window },
      {
        ...{ name: 'writesPerSessionPerMinute', points: writesPerSessionPerMinute, per: 'session' },
        ...{ classes: ['write'], ...window },
      },
    ],
    failedCredentials: { points: failedCredentialsPerAddressPerMinute, ...shared(backend) },
  }
}

/** The limits before and beside sessions. While a shared store is down, each process counts for itself. */
export function entryLimits({ rateLimits }: Config, backend: LimitedBackend): EntryLimits {
  if (rateLimits === 'off') return { bootstrap: free, document: free, mint: free, failedKey: free }
  const limit = (
    option: keyof typeof rateLimits,
    name: string = option,
    at: LimitedBackend = backend,
  ): EntryLimits['mint'] => {
    const points = rateLimits[option]
    const fallback = at.limiter ? { localPoints: points } : {}
    const { take } = createRateLimit({ name, points, windowSeconds: 60, ...shared(at), ...fallback })
    return take
  }
  return {
    bootstrap: limit('bootstrapPerAddressPerMinute'),
    // A document costs less than a question to a store, and readiness must be told while the store is down.
    document: limit('documentsPerAddressPerMinute', 'documentsPerAddressPerMinute', {}),
    mint: limit('mintsPerKeyPerMinute'),
    // The guard counts failed tokens under the option's own name.
    failedKey: limit('failedCredentialsPerAddressPerMinute', 'failedKeysPerAddressPerMinute'),
  }
}
