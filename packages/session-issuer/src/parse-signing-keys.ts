import type { SigningAlgorithm, SigningKey } from './storage/signing-port.ts'

/** The JWK members of a private signing key, by algorithm (RFC 8037, RFC 7518). */
const CURVES: Readonly<Record<SigningAlgorithm, { kty: string; crv: string }>> = {
  EdDSA: { kty: 'OKP', crv: 'Ed25519' },
  ES256: { kty: 'EC', crv: 'P-256' },
}

const isInstant = (value: unknown): boolean => Number.isSafeInteger(value)
const isInstantOrNull = (value: unknown): boolean => value === null || isInstant(value)
const isText = (value: unknown): value is string => typeof value === 'string' && value.length > 0

/** The algorithm that a private JWK signs with; undefined when it is neither Ed25519 nor P-256. */
export function algorithmOf(jwk: unknown): SigningAlgorithm | undefined {
  const { kty, crv, d, x, y } = Object(jwk) as Record<string, unknown>
  if (!isText(d) || !isText(x)) return undefined
  if (kty === 'OKP' && crv === CURVES.EdDSA.crv) return 'EdDSA'
  if (kty === 'EC' && crv === CURVES.ES256.crv && isText(y)) return 'ES256'
  return undefined
}

/** Parses a stored list of signing keys; undefined when any entry is not a signing key. */
export function readSigningKeys(value: unknown): SigningKey[] | undefined {
  if (!Array.isArray(value)) return undefined
  const isValid = value.every((entry: unknown) => {
    const key = Object(entry) as Record<string, unknown>
    const times = isInstant(key['activatesAt']) && isInstantOrNull(key['retiresAt'])
    const algorithm = algorithmOf(key['privateJwk'])
    return times && isInstantOrNull(key['dropsAt']) && isText(key['kid']) && algorithm === key['algorithm']
  })
  return isValid ? (value as SigningKey[]) : undefined
}
