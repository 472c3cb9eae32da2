import type { SigningAlgorithm, SigningKey } from '../storage/signing-port.ts'

/** The JWK members of a private signing key, by algorithm (RFC 8037, RFC 7518). */
const CURVES: Readonly<Record<SigningAlgorithm, { kty: string; crv: string }>> = {
  EdDSA: { kty: 'OKP', crv: 'Ed25519' },
  ES256: { kty: 'EC', crv: 'P-256' },
}

const isInstant = (value: unknown): boolean => Number.isSafeInteger(value)
const isInstantOrNull = (value: unknown): boolean => value === null || isInstant(value)
const isText = (value: unknown): value is string => typeof value === 'string' && value.length > 0

/** The algorithm a private JWK signs with, or undefined when it is not one of ours. */
export function algorithmOf(jwk: unknown): SigningAlgorithm | undefined {
  const { kty, crv, d, x, y } = Object(jwk) as Record<string, unknown>
  if (!isText(d) || !isText(x)) return undefined
  if (kty === 'OKP' && crv === CURVES.EdDSA.crv) return 'EdDSA'
  if (kty === 'EC' && crv === CURVES.ES256.crv && isText(y)) return 'ES256'
  return undefined
}

/** Reads a stored list of signing keys; undefined when any of it is not one. */
export function readSigningKeys(value: unknown): SigningKey[] | undefined {
  if (!Array.isArray(value)) return undefined
  const fits = value.every((entry: unknown) => {
    const key = Object(entry) as Record<string, unknown>
    const times = isInstant(key['activatesAt']) && isInstantOrNull(key['retiresAt'])
    const algorithm = algorithmOf(key['privateJwk'])
    return times && isInstantOrNull(key['dropsAt']) && isText(key['kid']) && algorithm === key['algorithm']
  })
  return fits ? (value as SigningKey[]) : undefined
}
