import { calculateJwkThumbprint, type JWK } from 'jose'
import { algorithmOf } from '../parse-signing-keys.ts'
import type { SigningKey, SigningKeyStorage } from './signing-port.ts'

/**
 * Signing keys from configuration: private JWKs (Ed25519 or P-256). The first key signs; the others are only published. To
 * rotate, deploy the new key in second place. Once every host has it and the published max-age has passed, move it to the first
 * place. Remove the old key when its last token has expired. Throws a `TypeError` for an empty list, for a key that is not such
 * a private JWK, and for a key given twice.
 */
export function staticSigningKeyStorage(jwks: readonly JWK[]): SigningKeyStorage {
  if (!Array.isArray(jwks) || jwks.length === 0) {
    throw new TypeError('signing keys must be a list of at least one private JWK')
  }
  for (const [index, jwk] of jwks.entries()) {
    if (!algorithmOf(jwk)) throw new TypeError(`signing key ${index} must be a private Ed25519 or P-256 JWK`)
    if (jwks.findIndex(other => (other as JWK).x === (jwk as JWK).x) !== index) {
      throw new TypeError(`signing key ${index} is given twice`)
    }
  }
  let keys: Promise<SigningKey[]> | undefined
  return {
    fixed: true,
    async load() {
      keys ??= Promise.all(jwks.map(toSigningKey))
      return { revision: 1, keys: await keys }
    },
    replace: async () => {
      throw new TypeError('signing keys from configuration are rotated by configuration')
    },
  }
}

/** The first key is always active, the others are always announced. */
async function toSigningKey(privateJwk: JWK, index: number): Promise<SigningKey> {
  return {
    kid: await calculateJwkThumbprint(privateJwk),
    algorithm: algorithmOf(privateJwk) as NonNullable<ReturnType<typeof algorithmOf>>,
    privateJwk,
    activatesAt: index === 0 ? 0 : Number.MAX_SAFE_INTEGER,
    retiresAt: null,
    dropsAt: null,
  }
}
