import {
  type Clock,
  fromClaims,
  integerOption,
  knownOptions,
  type OptionNames,
  SESSION_TOKEN_TYPE,
  systemClock,
} from '@gatewright/kernel'
import type { RateSource } from './amount.ts'
import { FAILURE_OPTIONS, type FailureOptions } from './limits/failures.ts'
import { LIMIT_OPTIONS, type LimitOptions } from './limits/options.ts'
import type { PolicySource } from './policy/chain.ts'
import { knownRevocation, type RevocationOptions } from './revocation/revocation.ts'
import type { SpendStorage } from './storage/port.ts'
import type { KeySource } from './token/keys.ts'
import type { SessionReader } from './token/verify.ts'

/** Options of `createGuard`. */
export interface GuardOptions {
  /** The exact `iss` of acceptable tokens. */
  readonly issuer: string
  /** Must be the `aud` of a token, or one of them. */
  readonly audience: string
  /** Verification keys by `kid`: `localKeys`, `remoteKeys` or your own. */
  readonly keys: KeySource
  /** Policy documents by id. Needed as soon as sessions carry policies; by default there are none to read. */
  readonly policies?: PolicySource
  /** Default: 600 requests a minute per API key, in this process's memory. An empty list: no limit. */
  readonly limits?: readonly LimitOptions[]
  /**
   * The budget of a client address for credentials that do not prove themselves. Default 60 a minute. Over it, tokens of
   * that address that are not known yet are verified few at a time, and only what overflows their queue gets 429.
   */
  readonly failedCredentials?: FailureOptions | 'off'
  /** How revoked sessions are found out. Default `{ mode: 'off' }`: a session lives to its end. */
  readonly revocation?: RevocationOptions
  /** Counters of spend caps. Without a store every policy that needs one blocks, naming its rule. */
  readonly spend?: SpendStorage
  /** US cents per minor unit of another currency. Without a rate, a money cap blocks other currencies. */
  readonly rates?: RateSource
  /** How long the policy source, the revocation check and the spend store may take, 10 to 60 000 ms, default 2000. */
  readonly storeTimeoutMs?: number
  readonly clock?: Clock
  /** The `typ` header of acceptable tokens. Default `at+jwt` (RFC 9068); Auth0-style and Entra-style: `JWT`. */
  readonly typ?: string
  /** Reads claims as a session. Default: our own claim names. For other issuers see `sessionReader`. */
  readonly readSession?: SessionReader
  /** The algorithm of RSA keys that do not name one. Default `RS256`. */
  readonly rsaAlgorithm?: 'RS256' | 'PS256'
  /** How far `nbf` and `iat` may lie in the future, 0 to 60 s, default 5. Never added to `exp`. */
  readonly clockToleranceSeconds?: number
  /** Longest token in bytes, 256 to 16384, default 4096. A longer one is refused unread. */
  readonly maxTokenBytes?: number
  /** Most verified tokens kept, 1 to 10 000 000, default 10 000. */
  readonly cacheEntries?: number
  /** Most bytes of verified tokens kept, default 32 MiB, at least 64 KiB. */
  readonly cacheBytes?: number
  /** How long a verification is reused, 1 to 3600 s, default 60. Bounds how long a dropped signing key still serves. */
  readonly cacheSeconds?: number
  /** The realm of challenges. Default `api`. */
  readonly realm?: string
}

const OPTIONS: OptionNames<GuardOptions> = {
  issuer: true,
  audience: true,
  keys: true,
  policies: true,
  limits: true,
  failedCredentials: true,
  revocation: true,
  spend: true,
  rates: true,
  storeTimeoutMs: true,
  clock: true,
  typ: true,
  readSession: true,
  rsaAlgorithm: true,
  clockToleranceSeconds: true,
  maxTokenBytes: true,
  cacheEntries: true,
  cacheBytes: true,
  cacheSeconds: true,
  realm: true,
}

/** Options with every default filled in. */
export type CheckedOptions = Required<Omit<GuardOptions, 'spend'>> & {
  readonly spend: SpendStorage | undefined
}

/** The limit that holds unless a team names its own (`guardedPerKeyPerMinute`). */
export const DEFAULT_LIMITS: readonly LimitOptions[] = [
  { name: 'guardedPerKeyPerMinute', points: 600, windowSeconds: 60, per: 'key' },
]

function text(name: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') {
    throw new TypeError(`${name} must be a text that is not empty, not ${typeof value}`)
  }
  return value
}

function knownLimits(limits: readonly LimitOptions[]): readonly LimitOptions[] {
  if (!Array.isArray(limits)) throw new TypeError(`createGuard: limits must be a list, not ${typeof limits}`)
  return limits.map((limit: LimitOptions, index) =>
    knownOptions(`createGuard limits[${index}]`, limit, LIMIT_OPTIONS),
  )
}

function knownFailureOptions(options: FailureOptions | 'off'): FailureOptions | 'off' {
  return options === 'off' ? options : knownOptions('createGuard failedCredentials', options, FAILURE_OPTIONS)
}

/** Checks options once, at construction, and fills in defaults. Throws a `TypeError` that names the option. */
export function checkedOptions(options: GuardOptions): CheckedOptions {
  knownOptions('createGuard', options, OPTIONS)
  const { limits = DEFAULT_LIMITS, failedCredentials = {}, revocation = { mode: 'off' } } = options
  if (typeof options.keys !== 'function') {
    throw new TypeError(`keys must be a function, not ${typeof options.keys}`)
  }
  return {
    issuer: text('issuer', options.issuer),
    audience: text('audience', options.audience),
    keys: options.keys,
    policies: options.policies ?? (async () => []),
    limits: knownLimits(limits),
    failedCredentials: knownFailureOptions(failedCredentials),
    revocation: knownRevocation(revocation),
    spend: options.spend,
    rates: options.rates ?? (() => undefined),
    storeTimeoutMs: integerOption('storeTimeoutMs', options.storeTimeoutMs ?? 2000, 10, 60_000),
    clock: options.clock ?? systemClock,
    typ: text('typ', options.typ ?? SESSION_TOKEN_TYPE),
    readSession: options.readSession ?? fromClaims,
    rsaAlgorithm: options.rsaAlgorithm ?? 'RS256',
    clockToleranceSeconds: integerOption('clockToleranceSeconds', options.clockToleranceSeconds ?? 5, 0, 60),
    maxTokenBytes: integerOption('maxTokenBytes', options.maxTokenBytes ?? 4096, 256, 16_384),
    cacheEntries: integerOption('cacheEntries', options.cacheEntries ?? 10_000, 1, 10_000_000),
    cacheBytes: integerOption('cacheBytes', options.cacheBytes ?? 2 ** 25, 2 ** 16, 2 ** 40),
    cacheSeconds: integerOption('cacheSeconds', options.cacheSeconds ?? 60, 1, 3600),
    realm: options.realm ?? 'api',
  }
}
