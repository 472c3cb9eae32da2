import { allow, type Denial, type Verdict, type Clock } from '@gatewright/kernel'
import { checkOptions, integerOption, systemClock } from '@gatewright/kernel/internal'
import { checkedKeyPrefix, type Environment } from './keys/key-text.ts'
import type { Pepper } from './keys/peppers.ts'
import { AUDIT_RETENTION_DAYS, MAX_SESSION_SECONDS, MIN_SESSION_SECONDS } from './limits.ts'
import type { EndedLineage } from './keys/lineage.ts'
import type { IssuerStorage, PolicyRecord } from './storage/port.ts'
import type { SigningAlgorithm, SigningKeyStorage } from './storage/signing-port.ts'

/** Options of `createIssuer`. They are checked once; a wrong one throws a `TypeError`. */
export interface IssuerOptions extends IssuerStorage {
  /** The `iss` of every token, usually an https URL. */
  readonly issuer: string
  /** The `aud` of every token. */
  readonly audience: string
  /** Part of every key text. A key of the other environment is denied. */
  readonly environment: Environment
  /** The first part of every key text: 2 to 12 of a-z and 0-9, a letter first. Default `gw`. */
  readonly keyPrefix?: string
  /**
   * New keys are digested with the first pepper. A key that was digested with another listed pepper still authenticates, and is
   * digested again when it is used. To change the pepper, first add the new one in second place in every process, then move it
   * to the first: a live key whose pepper is not listed causes the fault `ERR_PEPPER_MISSING`.
   */
  readonly peppers: readonly Pepper[]
  /** Where the hosts of this issuer agree on their signing keys. */
  readonly signingKeys: SigningKeyStorage
  /** Algorithm of new signing keys. Default `EdDSA`. */
  readonly algorithm?: SigningAlgorithm
  /**
   * Decides whether documents may form a policy chain, whenever a policy is added to one; `checkPolicyChain` of
   * `@gatewright/scope-guard` bounds the work of a guard. The issuer returns its denial. Default: every chain within
   * 32 KiB may.
   */
  readonly checkPolicyChain?: (chain: readonly PolicyRecord[]) => Verdict<unknown, Denial<'invalid_request'>>
  /**
   * Called before keys beyond the latest 200 ended ones are deleted, with those of their lineages that have no live key. Use it to keep
   * what must outlive the keys, such as the policies of objects that a key has made. It may be called again for the same
   * lineage. If it rejects, no key is deleted, the account is changed nevertheless, and the next change calls it again; the
   * error is not reported. It is not called for keys that `maintain` deletes because of their age: call `endedLineagePolicies`
   * before `maintain`. Default: does nothing.
   */
  readonly beforeKeysAreDeleted?: (lineages: readonly EndedLineage[]) => Promise<void>
  /** Default: the machine's clock. */
  readonly clock?: Clock
  /**
   * Longest lifetime of a session, in seconds, 60 to 86 400, default 86 400. When it is lowered, sessions that were issued before keep
   * their end.
   */
  readonly maxSessionTtlSeconds?: number
  /** Lifetime of a session when none is requested, in seconds, 60 to `maxSessionTtlSeconds`. Default 900, or that bound if it is less. */
  readonly defaultSessionTtlSeconds?: number
  /** Maximum number of live keys of one account, 1 to 1000, default 50. A key and its successors count once. */
  readonly maxLiveKeys?: number
  /** Maximum number of live keys below any one key, at any depth, 1 to 1000, default 20. A key and its successors count once. */
  readonly maxKeysBelow?: number
  /** How long an audit row is kept, in days, 1 to 3650, default 90. */
  readonly auditRetentionDays?: number
  /** Age at which `maintain` rotates the signing key, in days, 1 to 400, default 30. */
  readonly signingKeyDays?: number
}

/** The options with their defaults. */
export type CheckedOptions = Required<IssuerOptions>

/** Checks the options and adds the defaults. Throws a `TypeError` that names the option, what was expected and what came. */
export function checkedOptions(given: IssuerOptions): CheckedOptions {
  const lifetime = { min: MIN_SESSION_SECONDS, max: MAX_SESSION_SECONDS }
  const options = checkOptions('createIssuer', given, {
    issuer: { is: 'text' },
    audience: { is: 'text' },
    environment: { is: ['live', 'sandbox'] },
    keyPrefix: { default: 'gw' },
    peppers: true,
    keys: { is: 'object' },
    sessions: { is: 'object' },
    audit: { is: 'object' },
    signingKeys: { is: 'object' },
    algorithm: { is: ['EdDSA', 'ES256'], default: 'EdDSA' },
    checkPolicyChain: { default: () => allow(undefined) },
    beforeKeysAreDeleted: { default: async () => {} },
    clock: { default: systemClock },
    maxSessionTtlSeconds: { ...lifetime, default: MAX_SESSION_SECONDS },
    defaultSessionTtlSeconds: true,
    maxLiveKeys: { min: 1, max: 1000, default: 50 },
    maxKeysBelow: { min: 1, max: 1000, default: 20 },
    auditRetentionDays: { min: 1, max: 3650, default: AUDIT_RETENTION_DAYS },
    signingKeyDays: { min: 1, max: 400, default: 30 },
  })
  const { maxSessionTtlSeconds, defaultSessionTtlSeconds = Math.min(900, maxSessionTtlSeconds) } = options
  const where = 'createIssuer: defaultSessionTtlSeconds'
  integerOption(where, defaultSessionTtlSeconds, MIN_SESSION_SECONDS, maxSessionTtlSeconds)
  return { ...options, keyPrefix: checkedKeyPrefix(options.keyPrefix), defaultSessionTtlSeconds }
}
