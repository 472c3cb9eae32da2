import { calculateJwkThumbprint, type JWK } from 'jose'
import { algorithmOf } from '../signing/parse-keys.ts'
import type { SigningKey, SigningKeyStorage } from './signing-port.ts'

/**
 * Signing keys from configuration: private JWKs (Ed25519 or P-256). The first signs; the others are published
 * only. To rotate, first deploy the new key in second place, then, once the published max-age and every host's
 * deployment have passed, in first place, and take the old one out when its last token has ended.
 * Throws a `TypeError` for an empty list, a key that is not a private JWK of these kinds, or one given twice.
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

/** The first is active since ever, the rest are announced for ever. */
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
