import { CompactSign, importJWK } from 'jose'
import type { ImportSigningKey } from '../../signing/sign-token.ts'

const encoder = new TextEncoder()

/**
 * Imports a key that jose signs with, through Web Crypto. jose's `SignJWT` would deep-copy the claims once more before it
 * serializes them.
 */
export const importSigningKey: ImportSigningKey = async (jwk, { alg, kid, typ }) => {
  const key = await importJWK(jwk, alg)
  return payload => new CompactSign(encoder.encode(payload)).setProtectedHeader({ alg, kid, typ }).sign(key)
}
