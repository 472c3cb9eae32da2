import { type Clock, type HeaderField, allow, type Verdict } from '@gatewright/kernel'
import {
  createFailureLimit,
  createRateLimit,
  type LimiterStore,
  type LimitOptions,
  type FailureLimit,
  type GuardOptions,
} from '@gatewright/scope-guard'
import type { HostConfig } from '../../config/host-config.ts'

/** Rate limits of operations without a session. Each call takes one request from a bucket. */
export interface EntryLimits {
  /** Limits bootstraps by client address, before the wallet's signature is checked. */
  bootstrap(address: string): Promise<Verdict<readonly HeaderField[]>>
  /** Limits checks of web tokens by client address. */
  tokenCheck(address: string): Promise<Verdict<readonly HeaderField[]>>
  /** Limits polls of command lines by client address. */
  poll(address: string): Promise<Verdict<readonly HeaderField[]>>
  /** Limits reads of the host's documents by document and client address. */
  document(documentAndAddress: string): Promise<Verdict<readonly HeaderField[]>>
  /** Limits new sessions by API key, after authentication. */
  mint(keyId: string): Promise<Verdict<readonly HeaderField[]>>
  /**
   * Limits new sessions by account, in separate buckets for its root keys and for all other keys and sessions, so that a
   * delegate never uses up the owner's limit.
   */
  mintOfAccount(accountAndKind: string): Promise<Verdict<readonly HeaderField[]>>
  /** Limits failed API key authentications by client address. They never count against a key's own limit. */
  readonly failedKeys: FailureLimit
}

interface LimitedBackend {
  readonly limiter?: LimiterStore
}

const unlimited = async (): Promise<Verdict<readonly HeaderField[]>> => allow([])
const storeOption = ({ limiter }: LimitedBackend): { store?: LimiterStore } =>
  limiter ? { store: limiter } : {}

/** Where a limit counts: in the shared store, and while it is down in each process for itself. */
const counted = (
  { limiter }: LimitedBackend,
  points: number,
): Pick<LimitOptions, 'points' | 'windowSeconds' | 'store' | 'localPoints'> => ({
  points,
  windowSeconds: 60,
  ...(limiter ? { store: limiter, localPoints: points } : {}),
})

/** How a guard counts. Spend caps are in the database, so a limit that is lost lets no money leave above a cap. */
const guarded = (backend: LimitedBackend, points: number): Omit<LimitOptions, 'name' | 'per'> => ({
  ...counted(backend, points),
  localSpends: true,
})

/** Makes the limits of guarded requests (docs/configuration.md, `RATE_LIMITS`). Their names are sent in header fields. */
export function guardLimits(
  { rateLimits }: HostConfig,
  backend: LimitedBackend,
): Pick<GuardOptions, 'limits' | 'failedCredentials'> {
  if (rateLimits === 'off') return { limits: [], failedCredentials: 'off' }
  const { guardedPerKeyPerMinute, writesPerSessionPerMinute, writesPerAccountPerMinute } = rateLimits
  const { failedCredentialsPerAddressPerMinute } = rateLimits
  return {
    limits: [
      { name: 'guardedPerKeyPerMinute', per: 'key', ...guarded(backend, guardedPerKeyPerMinute) },
      {
        name: 'writesPerSessionPerMinute',
        per: 'session',
        classes: ['write', 'ending'],
        ...guarded(backend, writesPerSessionPerMinute),
      },
      // By account, whatever its number of keys and sessions: it bounds how much the account can make the host store.
      {
        name: 'writesPerAccountPerMinute',
        per: 'account',
        classes: ['write'],
        ...guarded(backend, writesPerAccountPerMinute),
      },
    ],
    failedCredentials: { points: failedCredentialsPerAddressPerMinute, ...storeOption(backend) },
  }
}

/**
 * Makes the limit on uses of an API key without a session. It has separate buckets, so that an owner whose sessions have used
 * up `guardedPerKeyPerMinute` can still mint.
 */
export function keyUseLimits({ rateLimits }: HostConfig, backend: LimitedBackend): readonly LimitOptions[] {
  if (rateLimits === 'off') return []
  return [{ name: 'usesPerKeyPerMinute', per: 'key', ...guarded(backend, rateLimits.guardedPerKeyPerMinute) }]
}

/** Creates the limits of operations without a session. */
export function entryLimits(
  { rateLimits }: Pick<HostConfig, 'rateLimits'>,
  backend: LimitedBackend,
  clock: Clock,
): EntryLimits {
  if (rateLimits === 'off') {
    const failedKeys = createFailureLimit('failedKeysPerAddressPerMinute', 'off')
    return {
      bootstrap: unlimited,
      tokenCheck: unlimited,
      poll: unlimited,
      document: unlimited,
      mint: unlimited,
      mintOfAccount: unlimited,
      failedKeys,
    }
  }
  const limit = (name: keyof typeof rateLimits, at: LimitedBackend = backend): EntryLimits['mint'] => {
    return createRateLimit({ name, ...counted(at, rateLimits[name]) }, clock).take
  }
  return {
    bootstrap: limit('bootstrapPerAddressPerMinute'),
    tokenCheck: limit('tokenChecksPerAddressPerMinute'),
    poll: limit('pollsPerAddressPerMinute'),
    // Counted in this process: a document is cheaper than a call to the store, and readiness must work while the store is down.
    document: limit('documentsPerAddressPerMinute', {}),
    mint: limit('mintsPerKeyPerMinute'),
    mintOfAccount: limit('mintsPerAccountPerMinute'),
    // Failed tokens have a separate limit, in the guard.
    failedKeys: createFailureLimit(
      'failedKeysPerAddressPerMinute',
      { points: rateLimits.failedCredentialsPerAddressPerMinute, ...storeOption(backend) },
      clock,
    ),
  }
}
