import type { JWK } from 'jose'

/** A public key that verifies compact JWS with its only algorithm. */
export interface VerificationKey {
  /**
   * Whether the signature of a compact JWS is by this key. The caller has checked the JWS's form, and that its header names
   * the key's algorithm and no `crit`. Returns no promise where the platform verifies synchronously. Throws or rejects if the
   * platform cannot use the key.
   */
  isSigned(token: string): boolean | Promise<boolean>
}

/**
 * Imports a public key for one of the algorithms `RS256` to `RS512`, `PS256` to `PS512`, `ES256` to `ES512` and `EdDSA`. The
 * caller has checked that the key may verify tokens and is strong enough. Rejects if the key is not one of that algorithm.
 */
export type ImportVerificationKey = (jwk: JWK, algorithm: string) => Promise<VerificationKey>
