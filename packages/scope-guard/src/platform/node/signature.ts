import { constants, KeyObject, verify, type VerifyKeyObjectInput } from 'node:crypto'
import type { CryptoKey } from 'jose'
import type { ImportVerificationKey } from '../../token/signature.ts'

/**
 * Imports a key that `node:crypto` verifies with, synchronously: Web Crypto costs 1.5 to 4 times the CPU for promises and
 * threads (`npm run bench -- scope-guard`, tokens seen for the first time). jose imports the key, so that both platforms
 * accept the same keys. It is loaded here, because a process starts faster without it.
 */
export const importVerificationKey: ImportVerificationKey = async (jwk, algorithm) => {
  const { importJWK } = await import('jose/key/import')
  // Extractable: Node deprecates key objects of keys that are not, and a public key is no secret.
  const key = KeyObject.from((await importJWK(jwk, algorithm, { extractable: true })) as CryptoKey)
  const digest = algorithm === 'EdDSA' ? null : `sha${algorithm.slice(2)}`
  const input = algorithm === 'EdDSA' ? key : { key, ...signatureForm(algorithm) }
  const length = signatureBytes(algorithm, key)
  return {
    isSigned(token) {
      const end = token.lastIndexOf('.')
      const signature = Buffer.from(token.slice(end + 1), 'base64url')
      return (
        signature.length === length &&
        verify(digest, Buffer.from(token.slice(0, end), 'latin1'), input, signature)
      )
    },
  }
}

/** Returns how the signatures of an algorithm are padded or encoded (RFC 7518 sections 3.3 to 3.5). */
function signatureForm(algorithm: string): Omit<VerifyKeyObjectInput, 'key'> {
  if (algorithm.startsWith('RS')) return { padding: constants.RSA_PKCS1_PADDING }
  if (algorithm.startsWith('PS')) {
    return { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
  }
  return algorithm.startsWith('ES') ? { dsaEncoding: 'ieee-p1363' } : {}
}

const FIXED_BYTES: ReadonlyMap<string, number> = new Map([
  ['ES256', 64],
  ['ES384', 96],
  ['ES512', 132],
  ['EdDSA', 64],
])

/** Returns how long the signatures of a key are: for RSA, as long as the modulus. */
function signatureBytes(algorithm: string, { asymmetricKeyDetails: details }: KeyObject): number {
  return FIXED_BYTES.get(algorithm) ?? Math.ceil((details?.modulusLength ?? 0) / 8)
}
