import { type Clock, integerOption, knownOptions, type OptionNames, systemClock } from '@gatewright/kernel'
import { checkedKeyPrefix, type Environment } from './keys/key-text.ts'
import type { Pepper } from './keys/peppers.ts'
import type { AuditStorage } from './storage/audit-port.ts'
import type { KeyStorage, SessionStorage } from './storage/port.ts'
import type { SigningAlgorithm, SigningKeyStorage } from './storage/signing-port.ts'

/** Options of `createIssuer`. Checked once; a bad one throws a `TypeError`. */
export interface IssuerOptions {
  /** The `iss` of every token: an https URL in most hosts. */
  readonly issuer: string
  /** The `aud` of every token. */
  readonly audience: string
  /** Part of every key text; a key of the other environment is refused. */
  readonly environment: Environment
  /** The first part of every key text: 2 to 12 of a-z and 0-9, a letter first. Default `gw`. */
  readonly keyPrefix?: string
  /** Newest first. Keys digested under a later one still authenticate and are digested again on use. */
  readonly peppers: readonly Pepper[]
  readonly keys: KeyStorage
  readonly sessions: SessionStorage
  /** Where the audit rows are that `keys` and `sessions` write: of the same store. */
  readonly audit: AuditStorage
  readonly signingKeys: SigningKeyStorage
  /** Algorithm of new signing keys. Default `EdDSA`. */
  readonly algorithm?: SigningAlgorithm
  readonly clock?: Clock
  /** Most live keys of one account, 1 to 1000; a key and its successors count once. Default 50. */
  readonly maxLiveKeys?: number
  /** Most live keys below any one key, at any depth, 1 to 1000; a key and its successors count once. Default 20. */
  readonly maxKeysBelow?: number
  /** What verifiers may cache the JWKS document for, in seconds, 10 to 86 400. Default 300. */
  readonly jwksMaxAgeSeconds?: number
  /** How long a host trusts the signing keys it has loaded, in ms, 100 to 60 000. Default 5000. */
  readonly signingKeyRefreshMs?: number
  /** How far apart the hosts' clocks may be, in ms, 0 to 60 000. Default 5000. */
  readonly clockSkewMs?: number
  /**
   * How long a key read from the store is trusted, in ms, 0 to 1000, counted from the start of the read: the
   * longest a key revoked on another host still mints here. Default 1000; 0 asks the store each time.
   */
  readonly keyCacheMs?: number
  /** Most keys cached, 1 to 1 000 000. Default 10 000, about 10 MB. */
  readonly keyCacheSize?: number
  /** How long a key is kept after its end, to be listed as revoked, in ms, from 25 h. Default 7 days. */
  readonly endedKeyRetentionMs?: number
  /** How long an audit row is kept, in days, 1 to 3650. Default 90. */
  readonly auditRetentionDays?: number
  /** Age at which `maintain` has the signing key succeeded, in days, 1 to 400. Default 30. */
  readonly signingKeyDays?: number
  /** How long uses of keys are gathered before they are written, in ms, 100 to 600 000. Default 10 000. */
  readonly lastUsedFlushMs?: number
}

const OPTIONS: OptionNames<IssuerOptions> = {
  issuer: true,
  audience: true,
  environment: true,
  keyPrefix: true,
  peppers: true,
  keys: true,
  sessions: true,
  audit: true,
  signingKeys: true,
  algorithm: true,
  clock: true,
  maxLiveKeys: true,
  maxKeysBelow: true,
  jwksMaxAgeSeconds: true,
  signingKeyRefreshMs: true,
  clockSkewMs: true,
  keyCacheMs: true,
  keyCacheSize: true,
  endedKeyRetentionMs: true,
  auditRetentionDays: true,
  signingKeyDays: true,
  lastUsedFlushMs: true,
}

/** The options with their defaults filled in. */
export type CheckedOptions = Required<IssuerOptions>

/** Checks the options. Throws a `TypeError` that names the option, its bound and the type given. */
export function checkedOptions(options: IssuerOptions): CheckedOptions {
  knownOptions('createIssuer', options, OPTIONS)
  for (const name of ['issuer', 'audience'] as const) {
    if (typeof options[name] !== 'string' || options[name] === '') {
      throw new TypeError(`${name} must be a non-empty text, not ${typeof options[name]}`)
    }
  }
  if (options.environment !== 'live' && options.environment !== 'sandbox') {
    throw new TypeError('environment must be "live" or "sandbox"')
  }
  if (options.algorithm !== undefined && options.algorithm !== 'EdDSA' && options.algorithm !== 'ES256') {
    throw new TypeError('algorithm must be "EdDSA" or "ES256"')
  }
  for (const name of ['keys', 'sessions', 'audit', 'signingKeys'] as const) {
    if (typeof options[name] !== 'object' || options[name] === null) {
      throw new TypeError(`${name} must be a storage, not ${typeof options[name]}`)
    }
  }
  return {
    ...options,
    keyPrefix: checkedKeyPrefix(options.keyPrefix ?? 'gw'),
    algorithm: options.algorithm ?? 'EdDSA',
    clock: options.clock ?? systemClock,
    maxLiveKeys: integerOption('maxLiveKeys', options.maxLiveKeys ?? 50, 1, 1000),
    maxKeysBelow: integerOption('maxKeysBelow', options.maxKeysBelow ?? 20, 1, 1000),
    jwksMaxAgeSeconds: integerOption('jwksMaxAgeSeconds', options.jwksMaxAgeSeconds ?? 300, 10, 86_400),
    signingKeyRefreshMs: integerOption(
      'signingKeyRefreshMs',
      options.signingKeyRefreshMs ?? 5000,
      100,
      60_000,
    ),
    clockSkewMs: integerOption('clockSkewMs', options.clockSkewMs ?? 5000, 0, 60_000),
    keyCacheMs: integerOption('keyCacheMs', options.keyCacheMs ?? 1000, 0, 1000),
    keyCacheSize: integerOption('keyCacheSize', options.keyCacheSize ?? 10_000, 1, 1_000_000),
    endedKeyRetentionMs: integerOption(
      'endedKeyRetentionMs',
      options.endedKeyRetentionMs ?? 7 * 86_400_000,
      25 * 3_600_000,
      Number.MAX_SAFE_INTEGER,
    ),
    auditRetentionDays: integerOption('auditRetentionDays', options.auditRetentionDays ?? 90, 1, 3650),
    signingKeyDays: integerOption('signingKeyDays', options.signingKeyDays ?? 30, 1, 400),
    lastUsedFlushMs: integerOption('lastUsedFlushMs', options.lastUsedFlushMs ?? 10_000, 100, 600_000),
  }
}
