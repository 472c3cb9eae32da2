import {
  allow,
  type Clock,
  type Denial,
  checkOptions,
  type OptionTable,
  systemClock,
  type Verdict,
} from '@gatewright/kernel'
import { checkedKeyPrefix, type Environment } from './keys/key-text.ts'
import type { Pepper } from './keys/peppers.ts'
import { checkedNumbers, NUMBER_OPTIONS, type IssuerNumbers } from './number-options.ts'
import type { EndedLineage } from './keys/lineage.ts'
import type { IssuerStorage, PolicyRecord } from './storage/port.ts'
import type { SigningAlgorithm, SigningKeyStorage } from './storage/signing-port.ts'

/** Options of `createIssuer`. They are checked once; a wrong one throws a `TypeError`. */
export interface IssuerOptions extends IssuerStorage, Partial<IssuerNumbers> {
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
   * `maxChainBytes` may.
   */
  readonly checkPolicyChain?: (chain: readonly PolicyRecord[]) => Verdict<unknown, Denial<'invalid_request'>>
  /**
   * Called before keys beyond `maxEndedKeys` are deleted, with those of their lineages that have no live key. Use it to keep
   * what must outlive the keys, such as the policies of objects that a key has made. It may be called again for the same
   * lineage. If it rejects, no key is deleted, the account is changed nevertheless, and the next change calls it again; the
   * error is not reported. It is not called for keys that `maintain` deletes because of their age: call `endedLineagePolicies`
   * before `maintain`. Default: does nothing.
   */
  readonly beforeKeysAreDeleted?: (lineages: readonly EndedLineage[]) => Promise<void>
  /** Default: the machine's clock. */
  readonly clock?: Clock
}

const OPTIONS: OptionTable<IssuerOptions> = {
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
  checkPolicyChain: true,
  beforeKeysAreDeleted: true,
  clock: true,
  ...NUMBER_OPTIONS,
}

/** The options with their defaults. */
export type CheckedOptions = Required<IssuerOptions>

/** Checks the options and adds the defaults. Throws a `TypeError` that names the option, its bounds and the given value. */
export function checkedOptions(options: IssuerOptions): CheckedOptions {
  checkOptions('createIssuer', options, OPTIONS)
  for (const name of ['issuer', 'audience'] as const) {
    if (typeof options[name] !== 'string' || options[name] === '') {
      throw new TypeError(`${name} must be a non-empty text, got ${typeof options[name]}`)
    }
  }
  if (options.environment !== 'live' && options.environment !== 'sandbox') {
    throw new TypeError('environment must be "live" or "sandbox"')
  }
  if (options.algorithm !== undefined && options.algorithm !== 'EdDSA' && options.algorithm !== 'ES256') {
    throw new TypeError('algorithm must be "EdDSA" or "ES256"')
  }
  const { checkPolicyChain = () => allow(undefined) } = options
  if (typeof checkPolicyChain !== 'function') {
    throw new TypeError(`checkPolicyChain must be a function, got ${typeof checkPolicyChain}`)
  }
  const { beforeKeysAreDeleted = async () => {} } = options
  if (typeof beforeKeysAreDeleted !== 'function') {
    throw new TypeError(`beforeKeysAreDeleted must be a function, got ${typeof beforeKeysAreDeleted}`)
  }
  for (const name of ['keys', 'sessions', 'audit', 'signingKeys'] as const) {
    if (typeof options[name] !== 'object' || options[name] === null) {
      throw new TypeError(`${name} must be a storage, got ${typeof options[name]}`)
    }
  }
  return {
    ...options,
    keyPrefix: checkedKeyPrefix(options.keyPrefix ?? 'gw'),
    algorithm: options.algorithm ?? 'EdDSA',
    checkPolicyChain,
    beforeKeysAreDeleted,
    clock: options.clock ?? systemClock,
    ...checkedNumbers(options),
  }
}
