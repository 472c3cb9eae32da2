import type { JWK } from 'jose'
import type { SigningAlgorithm } from '../storage/signing-port.ts'

/** The header of all tokens of one signing key. */
interface TokenHeader {
  readonly alg: SigningAlgorithm
  readonly kid: string
  readonly typ: string
}

/** Signs a payload and returns the compact JWS. */
export type SignToken = (payload: string) => Promise<string>

/** Imports a private key that signs tokens with one header. Rejects if the key is not one of the header's algorithm. */
export type ImportSigningKey = (jwk: JWK, header: TokenHeader) => Promise<SignToken>
