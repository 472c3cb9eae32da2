import { integerOption, type OptionTable } from '@gatewright/kernel'

/** The numeric options of `createIssuer`, all of them integers. */
export interface IssuerNumbers {
  /** Minimum lifetime of a session that can be requested, in seconds, 1 to 86 400. Default 60. */
  readonly minSessionTtlSeconds: number
  /**
   * Maximum lifetime of a session, in seconds, `minSessionTtlSeconds` to 86 400. Default 86 400. Lowering it does not shorten
   * sessions that were issued before.
   */
  readonly maxSessionTtlSeconds: number
  /**
   * Lifetime of a session if the request gives none, in seconds, `minSessionTtlSeconds` to `maxSessionTtlSeconds`. Default 900,
   * or the bound nearest to it.
   */
  readonly defaultSessionTtlSeconds: number
  /** Maximum number of sessions above a session, each minted from the one before, 0 to 64. Default 8. */
  readonly maxSessionDepth: number
  /** Maximum length of a session's label, in characters, 0 to 1000. Default 120. */
  readonly maxLabelLength: number
  /**
   * Maximum length of a token, in bytes, 256 to 16 384. Default 4096. A request whose token would be longer is denied. Guards
   * have a limit of their own, also 4096 by default.
   */
  readonly maxTokenBytes: number
  /** Maximum number of policies in the chain of a key or session, 1 to 64. Default 16. */
  readonly maxPolicies: number
  /** Maximum size of a new policy, in bytes of its JSON in UTF-8, 2 to 65 536. Default 8192. */
  readonly maxPolicyBytes: number
  /**
   * Maximum size of all policies of a chain together, in bytes of their JSON in UTF-8, 2 to 1 048 576. Default 32 768. It is
   * checked when a policy is added to the chain.
   */
  readonly maxChainBytes: number
  /** Maximum number of keys above a key, 0 to 64. Default 8. */
  readonly maxKeyDepth: number
  /** Maximum number of live keys of one account, 1 to 1000; a key and its successors count once. Default 50. */
  readonly maxLiveKeys: number
  /** Maximum number of live keys below any one key, at any depth, 1 to 1000; a key and its successors count once. Default 20. */
  readonly maxKeysBelow: number
  /** Maximum number of live consoles of one account, 1 to 100. Opening another one ends the oldest. Default 5. */
  readonly maxConsoles: number
  /**
   * How long a root key must be unused before a new root may retire it at `maxLiveKeys`, in ms, 3 600 000 to 2 592 000 000.
   * Default 86 400 000. If the last stored use of a key is older than half of this time, the next use is written immediately.
   */
  readonly rootKeyIdleMs: number
  /** Maximum overlap of a rotated key and its successor, in seconds, 0 to 2 592 000. Default 604 800. */
  readonly maxOverlapSeconds: number
  /**
   * Maximum number of ended keys of one account that stay listed, 0 to 10 000. Default 200. Every decision about an account
   * loads its keys, so this bounds the work that creating and revoking keys can cause.
   */
  readonly maxEndedKeys: number
  /** How long an ended key is kept and listed, in ms, at least 90 000 000 (25 h). Default 604 800 000. */
  readonly endedKeyRetentionMs: number
  /** How long an audit row is kept, in days, 1 to 3650. Default 90. */
  readonly auditRetentionDays: number
  /**
   * How long a key read from the store is trusted, in ms, 0 to 1000, counted from the start of the read. A key that was revoked
   * on another host can mint sessions here for at most this time. Default 1000; 0 reads the store each time.
   */
  readonly keyCacheMs: number
  /** Maximum number of cached keys, 1 to 1 000 000. Default 10 000, about 10 MB. */
  readonly keyCacheSize: number
  /** How long uses of keys are collected before they are written, in ms, 100 to 600 000. Default 10 000. */
  readonly lastUsedFlushMs: number
  /** How long verifiers may cache the JWKS document, in seconds, 10 to 86 400. Default 300. */
  readonly jwksMaxAgeSeconds: number
  /** How long a host trusts the signing keys it has loaded, in ms, 100 to 60 000. Default 5000. */
  readonly signingKeyRefreshMs: number
  /** Age at which `maintain` rotates the signing key, in days, 1 to 400. Default 30. */
  readonly signingKeyDays: number
  /** The largest difference between the hosts' clocks, in ms, 0 to 60 000. Default 5000. */
  readonly clockSkewMs: number
}

/** The default, minimum and maximum of a numeric option. */
interface Bound {
  readonly default: number
  readonly min: number
  readonly max: number
}

const DAY_MS = 86_400_000

/**
 * The longest session that any issuer may allow, in seconds (24 h). Entries of the revocation feed are kept, and retired
 * signing keys stay published, for at least as long.
 */
export const LONGEST_SESSION_SECONDS = 86_400

/** Every numeric option of `createIssuer` with its default and bounds. */
export const BOUNDS: Readonly<Record<keyof IssuerNumbers, Bound>> = {
  minSessionTtlSeconds: { default: 60, min: 1, max: LONGEST_SESSION_SECONDS },
  maxSessionTtlSeconds: { default: LONGEST_SESSION_SECONDS, min: 1, max: LONGEST_SESSION_SECONDS },
  defaultSessionTtlSeconds: { default: 900, min: 1, max: LONGEST_SESSION_SECONDS },
  maxSessionDepth: { default: 8, min: 0, max: 64 },
  maxLabelLength: { default: 120, min: 0, max: 1000 },
  maxTokenBytes: { default: 4096, min: 256, max: 16_384 },
  maxPolicies: { default: 16, min: 1, max: 64 },
  maxPolicyBytes: { default: 8192, min: 2, max: 65_536 },
  maxChainBytes: { default: 32_768, min: 2, max: 1_048_576 },
  maxKeyDepth: { default: 8, min: 0, max: 64 },
  maxLiveKeys: { default: 50, min: 1, max: 1000 },
  maxKeysBelow: { default: 20, min: 1, max: 1000 },
  maxConsoles: { default: 5, min: 1, max: 100 },
  rootKeyIdleMs: { default: DAY_MS, min: 3_600_000, max: 30 * DAY_MS },
  maxOverlapSeconds: { default: 604_800, min: 0, max: 2_592_000 },
  maxEndedKeys: { default: 200, min: 0, max: 10_000 },
  endedKeyRetentionMs: { default: 7 * DAY_MS, min: 25 * 3_600_000, max: Number.MAX_SAFE_INTEGER },
  auditRetentionDays: { default: 90, min: 1, max: 3650 },
  keyCacheMs: { default: 1000, min: 0, max: 1000 },
  keyCacheSize: { default: 10_000, min: 1, max: 1_000_000 },
  lastUsedFlushMs: { default: 10_000, min: 100, max: 600_000 },
  jwksMaxAgeSeconds: { default: 300, min: 10, max: 86_400 },
  signingKeyRefreshMs: { default: 5000, min: 100, max: 60_000 },
  signingKeyDays: { default: 30, min: 1, max: 400 },
  clockSkewMs: { default: 5000, min: 0, max: 60_000 },
}

const NAMES = Object.keys(BOUNDS) as (keyof IssuerNumbers)[]

/** The names of the numeric options. */
export const NUMBER_OPTIONS: OptionTable<IssuerNumbers> = Object.fromEntries(
  NAMES.map(name => [name, true]),
) as OptionTable<IssuerNumbers>

/** Checks the numeric options and adds the defaults. Throws a `TypeError` that names the option, its bounds and the given value. */
export function checkedNumbers(options: Partial<IssuerNumbers>): IssuerNumbers {
  const checked = (name: keyof IssuerNumbers, least: number, most: number): number =>
    integerOption(name, options[name] ?? Math.min(Math.max(BOUNDS[name].default, least), most), least, most)
  const numbers = Object.fromEntries(
    NAMES.map(name => [name, checked(name, BOUNDS[name].min, BOUNDS[name].max)]),
  ) as unknown as IssuerNumbers
  const { minSessionTtlSeconds } = numbers
  const maxSessionTtlSeconds = checked(
    'maxSessionTtlSeconds',
    minSessionTtlSeconds,
    BOUNDS.maxSessionTtlSeconds.max,
  )
  return {
    ...numbers,
    maxSessionTtlSeconds,
    defaultSessionTtlSeconds: checked('defaultSessionTtlSeconds', minSessionTtlSeconds, maxSessionTtlSeconds),
  }
}
