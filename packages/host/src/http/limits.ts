import type { HeaderField } from '@gatewright/http'
import { allow, type Verdict } from '@gatewright/kernel'
import {
  createFailureLimit,
  createRateLimit,
  type FailureLimit,
  type GuardOptions,
  type LimiterStore,
  type LimitOptions,
} from '@gatewright/scope-guard'
import type { HostConfig } from '../config/host-config.ts'

/** Rate limits of operations without a session. Each call takes one request from a bucket. */
export interface EntryLimits {
  /** By client address, before the wallet's signature is checked. */
  bootstrap(address: string): Promise<Verdict<readonly HeaderField[]>>
  /** Checks of web tokens, by client address. */
  tokenCheck(address: string): Promise<Verdict<readonly HeaderField[]>>
  /** Polls of command lines, by client address. */
  poll(address: string): Promise<Verdict<readonly HeaderField[]>>
  /** By document and client address. */
  document(documentAndAddress: string): Promise<Verdict<readonly HeaderField[]>>
  /** By API key, after authentication. */
  mint(keyId: string): Promise<Verdict<readonly HeaderField[]>>
  /** By account, apart for its root keys and for everything below them: a delegate never uses up what the owner mints with. */
  mintOfAccount(accountAndKind: string): Promise<Verdict<readonly HeaderField[]>>
  /** Failed API key authentications, by client address. They never use up a key's own limit. */
  readonly failedKeys: FailureLimit
}

interface LimitedBackend {
  readonly limiter?: LimiterStore
}

const unlimited = async (): Promise<Verdict<readonly HeaderField[]>> => allow([])
const storeOption = ({ limiter }: LimitedBackend): { store?: LimiterStore } =>
  limiter ? { store: limiter } : {}

/** The limits of guarded requests (docs/configuration.md, `RATE_LIMITS`), under the names that header fields show. */
export function guardLimits(
  { rateLimits }: HostConfig,
  backend: LimitedBackend,
): Pick<GuardOptions, 'limits' | 'failedCredentials'> {
  if (rateLimits === 'off') return { limits: [], failedCredentials: 'off' }
  const { guardedPerKeyPerMinute, writesPerSessionPerMinute, writesPerAccountPerMinute } = rateLimits
  const { failedCredentialsPerAddressPerMinute } = rateLimits
  const window = { windowSeconds: 60, ...storeOption(backend) }
  return {
    limits: [
      { name: 'guardedPerKeyPerMinute', points: guardedPerKeyPerMinute, per: 'key', ...window },
      {
        name: 'writesPerSessionPerMinute',
        points: writesPerSessionPerMinute,
        per: 'session',
        classes: ['write', 'ending'],
        ...window,
      },
      // However many keys and sessions an account has: it bounds what the account can make the host store.
      {
        name: 'writesPerAccountPerMinute',
        points: writesPerAccountPerMinute,
        per: 'account',
        classes: ['write'],
        ...window,
      },
    ],
    failedCredentials: { points: failedCredentialsPerAddressPerMinute, ...storeOption(backend) },
  }
}

/**
 * The limit on uses of an API key that need no session, in buckets of its own: an owner whose sessions have
 * used up `guardedPerKeyPerMinute` can still mint. While the shared store is down, each process counts for
 * itself.
 */
export function keyUseLimits({ rateLimits }: HostConfig, backend: LimitedBackend): readonly LimitOptions[] {
  if (rateLimits === 'off') return []
  const points = rateLimits.guardedPerKeyPerMinute
  const fallback = backend.limiter ? { localPoints: points } : {}
  const name = 'usesPerKeyPerMinute'
  return [{ name, points, windowSeconds: 60, per: 'key', ...storeOption(backend), ...fallback }]
}

/**
 * Creates the limits of operations without a session. While the shared store is down, each process counts for
 * itself.
 */
export function entryLimits({ rateLimits }: HostConfig, backend: LimitedBackend): EntryLimits {
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
    const points = rateLimits[name]
    const fallback = at.limiter ? { localPoints: points } : {}
    const { take } = createRateLimit({ name, points, windowSeconds: 60, ...storeOption(at), ...fallback })
    return take
  }
  return {
    bootstrap: limit('bootstrapPerAddressPerMinute'),
    tokenCheck: limit('tokenChecksPerAddressPerMinute'),
    poll: limit('pollsPerAddressPerMinute'),
    // Counted in the process: a document is cheaper than a store access, and readiness must work while the
    // store is down.
    document: limit('documentsPerAddressPerMinute', {}),
    mint: limit('mintsPerKeyPerMinute'),
    mintOfAccount: limit('mintsPerAccountPerMinute'),
    // The guard counts failed tokens separately.
    failedKeys: createFailureLimit('failedKeysPerAddressPerMinute', {
      points: rateLimits.failedCredentialsPerAddressPerMinute,
      ...storeOption(backend),
    }),
  }
}
