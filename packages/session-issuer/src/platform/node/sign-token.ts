import { KeyObject, sign } from 'node:crypto'
import { importJWK, type CryptoKey } from 'jose'
import type { ImportSigningKey } from '../../signing/sign-token.ts'

const encode = (text: string): string => Buffer.from(text).toString('base64url')

/**
 * Imports a key that `node:crypto` signs with, synchronously: Web Crypto costs 2.7 times the CPU for promises and threads
 * (`npm run bench -- session-issuer`, mint without storage). jose imports the key, so that both platforms accept the same keys.
 */
export const importSigningKey: ImportSigningKey = async (jwk, { alg, kid, typ }) => {
  // Extractable: Node deprecates key objects of keys that are not. The key never leaves this function.
  const key = KeyObject.from((await importJWK(jwk, alg, { extractable: true })) as CryptoKey)
  const digest = alg === 'EdDSA' ? null : 'sha256'
  // RFC 7518 section 3.4: R and S side by side, not DER.
  const input = { key, ...(alg === 'ES256' ? { dsaEncoding: 'ieee-p1363' as const } : {}) }
  const head = encode(JSON.stringify({ alg, kid, typ }))
  return async payload => {
    const text = `${head}.${encode(payload)}`
    return `${text}.${sign(digest, Buffer.from(text, 'latin1'), input).toString('base64url')}`
  }
}
