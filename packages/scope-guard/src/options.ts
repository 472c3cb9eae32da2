import {
  type Clock,
  integerOption,
  knownOptions,
  type OptionNames,
  SESSION_TOKEN_TYPE,
  systemClock,
} from '@gatewright/kernel'
import { checkedDpop, type CheckedDpop, type DpopOptions } from './dpop/options.ts'
import type { RateSource } from './spend/amount.ts'
import { FAILURE_OPTIONS, type FailureOptions } from './rate-limits/failure-budget.ts'
import { LIMIT_OPTIONS, type LimitOptions } from './rate-limits/options.ts'
import type { PolicySource } from './policies/chain-loader.ts'
import { checkedRevocation, type RevocationOptions } from './revocation/revocation.ts'
import type { SpendStorage } from './storage/port.ts'
import { issuerKeys } from './token/discovery.ts'
import type { KeySource } from './token/keys.ts'
import type { SessionReader } from './token/claims.ts'
import { readAccessToken } from './token/session-reader.ts'

/** Options of `createGuard`. */
export interface GuardOptions {
  /** The `iss` of acceptable tokens, compared exactly. */
  readonly issuer: string
  /** A token's `aud` must be this value or contain it. */
  readonly audience: string
  /**
   * Verification keys by `kid`: `localKeys`, `remoteKeys`, `discoverKeys` or your own. Default: `discoverKeys(issuer)`, which
   * finds them from the metadata of the issuer.
   */
  readonly keys?: KeySource
  /** Reads policy documents by id. Required if sessions have policies; by default there are no documents. */
  readonly policies?: PolicySource
  /** Rate limits. Default: 600 requests a minute per API key, in this process's memory. An empty list: no limit. */
  readonly limits?: readonly LimitOptions[]
  /**
   * How many failed credentials a client address may send, by default 60 a minute. Beyond that, tokens of the address that
   * are not known yet are verified in a low-priority queue, and only requests that do not fit in it get 429.
   */
  readonly failedCredentials?: FailureOptions | 'off'
  /** How the guard learns of revoked sessions. Default `{ mode: 'off' }`: a session is valid until it expires. */
  readonly revocation?: RevocationOptions
  /** Stores the counters of spend caps. Without a store, every policy that needs a counter blocks and names its rule. */
  readonly spend?: SpendStorage
  /**
   * Accepts tokens that are bound to a key of the client (DPoP, RFC 9449), at the public URL that `origin` names. Without it, such tokens are denied with 401
   * `invalid_dpop_proof`.
   */
  readonly dpop?: DpopOptions
  /** Returns US cents per minor unit of another currency. Without a rate, a money cap blocks the currency. */
  readonly rates?: RateSource
  /** How long a call of the policy source, the revocation check or the spend store may take, 10 to 60 000 ms, default 2000. */
  readonly storeTimeoutMs?: number
  readonly clock?: Clock
  /** The `typ` header of acceptable tokens. Default: that of the preset of `readSession`, else `at+jwt` (RFC 9068). */
  readonly typ?: string
  /**
   * Reads a session from claims. Default: any access token of RFC 9068, and the tokens of session-issuer. If the tokens of your
   * provider differ, name the provider: `sessionReader({ preset: 'auth0' })`.
   */
  readonly readSession?: SessionReader
  /**
   * The algorithm of RSA keys without `alg`. Default: the RSA algorithm of the issuer's metadata if it names exactly one, else
   * `RS256`.
   */
  readonly rsaAlgorithm?: 'RS256' | 'PS256'
  /** How far `nbf` and `iat` may be in the future, 0 to 60 s, default 5. Never added to `exp`. */
  readonly clockToleranceSeconds?: number
  /** Longest token in bytes, 256 to 16 384, default 4096. A longer token is denied without being decoded. */
  readonly maxTokenBytes?: number
  /** How many verified tokens are cached, 1 to 10 000 000, default 10 000. */
  readonly cacheEntries?: number
  /** How many bytes of verified tokens are cached, at least 64 KiB, default 32 MiB. */
  readonly cacheBytes?: number
  /**
   * How many bytes of compiled policies are cached, at least 512 KiB, so that each chain that `checkPolicyChain` accepts fits;
   * default 32 MiB. Sessions with the same policies share one compiled chain. An evicted chain is read from `policies` again.
   */
  readonly policyCacheBytes?: number
  /** How long a verification is reused, 1 to 3600 s, default 60. It is also how long a removed signing key is accepted at most. */
  readonly cacheSeconds?: number
  /** The realm of `WWW-Authenticate`. Default `api`. */
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
  dpop: true,
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
  policyCacheBytes: true,
  cacheSeconds: true,
  realm: true,
}

/** Checked options, with every default filled in. */
export type CheckedOptions = Required<Omit<GuardOptions, 'spend' | 'typ' | 'dpop'>> & {
  readonly dpop: CheckedDpop | undefined
  readonly types: readonly (string | undefined)[]
  readonly spend: SpendStorage | undefined
}

/** The default of `limits`. */
export const DEFAULT_LIMITS: readonly LimitOptions[] = [
  { name: 'guardedPerKeyPerMinute', points: 600, windowSeconds: 60, per: 'key' },
]

function nonEmptyText(name: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') {
    throw new TypeError(`${name} must be a non-empty string, got ${JSON.stringify(value)}`)
  }
  return value
}

function checkedLimits(limits: readonly LimitOptions[]): readonly LimitOptions[] {
  if (!Array.isArray(limits))
    throw new TypeError(`createGuard: limits must be an array, got ${typeof limits}`)
  return limits.map((limit: LimitOptions, index) =>
    knownOptions(`createGuard limits[${index}]`, limit, LIMIT_OPTIONS),
  )
}

function checkedFailureOptions(options: FailureOptions | 'off'): FailureOptions | 'off' {
  return options === 'off' ? options : knownOptions('createGuard failedCredentials', options, FAILURE_OPTIONS)
}

function acceptedTypes(
  typ: string | undefined,
  { types = [SESSION_TOKEN_TYPE] }: SessionReader,
): CheckedOptions['types'] {
  return typ === undefined ? types : [nonEmptyText('typ', typ)]
}

/** Checks options and fills in defaults. Throws a `TypeError` that names the option. */
export function checkedOptions(options: GuardOptions): CheckedOptions {
  knownOptions('createGuard', options, OPTIONS)
  const { limits = DEFAULT_LIMITS, failedCredentials = {}, revocation = { mode: 'off' } } = options
  const { readSession = readAccessToken } = options
  const issuer = nonEmptyText('issuer', options.issuer)
  const { keys = issuerKeys('createGuard', issuer, {}, options.rsaAlgorithm === undefined) } = options
  if (typeof keys !== 'function') throw new TypeError(`keys must be a function, got ${typeof keys}`)
  return {
    issuer,
    audience: nonEmptyText('audience', options.audience),
    keys,
    policies: options.policies ?? (async () => []),
    limits: checkedLimits(limits),
    failedCredentials: checkedFailureOptions(failedCredentials),
    revocation: checkedRevocation(revocation),
    spend: options.spend,
    dpop: options.dpop === undefined ? undefined : checkedDpop(options.dpop),
    rates: options.rates ?? (() => undefined),
    storeTimeoutMs: integerOption('storeTimeoutMs', options.storeTimeoutMs ?? 2000, 10, 60_000),
    clock: options.clock ?? systemClock,
    types: acceptedTypes(options.typ, readSession),
    readSession,
    rsaAlgorithm: options.rsaAlgorithm ?? 'RS256',
    clockToleranceSeconds: integerOption('clockToleranceSeconds', options.clockToleranceSeconds ?? 5, 0, 60),
    maxTokenBytes: integerOption('maxTokenBytes', options.maxTokenBytes ?? 4096, 256, 16_384),
    cacheEntries: integerOption('cacheEntries', options.cacheEntries ?? 10_000, 1, 10_000_000),
    cacheBytes: integerOption('cacheBytes', options.cacheBytes ?? 2 ** 25, 2 ** 16, 2 ** 40),
    policyCacheBytes: integerOption(
      'policyCacheBytes',
      options.policyCacheBytes ?? 2 ** 25,
      2 ** 19,
      2 ** 40,
    ),
    cacheSeconds: integerOption('cacheSeconds', options.cacheSeconds ?? 60, 1, 3600),
    realm: options.realm ?? 'api',
  }
}
