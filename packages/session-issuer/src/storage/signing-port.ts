import type { EpochMs } from '@gatewright/kernel'
import type { JWK } from 'jose'
import type { IssuerStorage } from './port.ts'

/** Signature algorithms of session tokens. */
export type SigningAlgorithm = 'EdDSA' | 'ES256'

/**
 * A signing key with the times of its states: announced until `activatesAt`, active until `retiresAt`, retired until `dropsAt`,
 * then dropped. Null: not decided yet.
 */
export interface SigningKey {
  /** RFC 7638 thumbprint of the public key. */
  readonly kid: string
  readonly algorithm: SigningAlgorithm
  readonly privateJwk: JWK
  readonly activatesAt: EpochMs
  readonly retiresAt: EpochMs | null
  readonly dropsAt: EpochMs | null
}

/** All signing keys of one issuer with the revision they were read at. Revision 0: none was ever stored. */
export interface SigningKeySet {
  readonly revision: number
  readonly keys: readonly SigningKey[]
}

/**
 * The store in which the hosts of one issuer agree on their signing keys. Faults of both methods: `ERR_STORE_UNAVAILABLE`,
 * `ERR_STORE_REPLY`, and `ERR_KEYS_UNAVAILABLE` when the stored keys cannot be decrypted.
 */
export interface SigningKeyStorage {
  /** True where only configuration changes the keys; `replace` then throws a `TypeError`. */
  readonly fixed?: boolean

  load(): Promise<SigningKeySet>

  /**
   * Replaces the set if it is still at `revision`, and raises the revision. Of any number of simultaneous calls at one
   * revision exactly one resolves to true.
   */
  replace(revision: number, keys: readonly SigningKey[]): Promise<boolean>
}

/** All four storages over one database. */
export interface SqlCredentialsWithSigning extends IssuerStorage {
  readonly signingKeys: SigningKeyStorage
}
