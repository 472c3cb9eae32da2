import { compactVerify, errors, importJWK } from 'jose'
import type { ImportVerificationKey } from '../../token/signature.ts'

/** Imports a key that jose verifies with, through Web Crypto. */
export const importVerificationKey: ImportVerificationKey = async (jwk, algorithm) => {
  const key = await importJWK(jwk, algorithm, { extractable: false })
  const algorithms = algorithm === 'EdDSA' ? ['EdDSA', 'Ed25519'] : [algorithm]
  return {
    async isSigned(token) {
      try {
        await compactVerify(token, key, { algorithms })
        return true
      } catch (error) {
        if (error instanceof errors.JOSEError) return false
        throw error
      }
    },
  }
}
