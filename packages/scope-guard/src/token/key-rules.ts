import { Fault } from '@gatewright/kernel'
import type { JWK } from 'jose'
import { decodeBytes } from '#platform/base64url'

const BY_CURVE: ReadonlyMap<string, string> = new Map([
  ['P-256', 'ES256'],
  ['P-384', 'ES384'],
  ['P-521', 'ES512'],
  ['Ed25519', 'EdDSA'],
])

const RSA_SIGNATURE = /^[RP]S(256|384|512)$/

const MIN_RSA_BITS = 2048
const MIN_RSA_EXPONENT = 65_537n

/** Normalizes the name of an algorithm: RFC 9864 names EdDSA with an Ed25519 key `Ed25519`, and both names are in use. */
export function algorithmName(alg: unknown): unknown {
  return alg === 'Ed25519' ? 'EdDSA' : alg
}

/**
 * Returns the only algorithm that a key may be used with: its `alg`, or the algorithm of its curve, or for RSA
 * `rsaAlgorithm`. Undefined for keys that must not verify tokens: symmetric keys (a verifier could sign with them), private
 * keys, and keys for other uses.
 */
export function algorithmOf(jwk: JWK, rsaAlgorithm: string): string | undefined {
  if (jwk.kty === 'oct' || 'd' in jwk || (jwk.use !== undefined && jwk.use !== 'sig')) return undefined
  if (jwk.key_ops !== undefined && !jwk.key_ops.includes('verify')) return undefined
  if (jwk.kty === 'RSA')
    return RSA_SIGNATURE.test(jwk.alg ?? rsaAlgorithm) ? (jwk.alg ?? rsaAlgorithm) : undefined
  const implied = BY_CURVE.get(jwk.crv ?? '')
  return jwk.alg === undefined || algorithmName(jwk.alg) === implied ? implied : undefined
}

/** Returns why a key is too weak, or undefined: an RSA modulus under 2,048 bits or an exponent under 65,537. */
export function weaknessOf({ kty, kid, n = '', e = '' }: JWK): string | undefined {
  if (kty !== 'RSA') return undefined
  const bits = integerOf(n).toString(2).length
  if (bits < MIN_RSA_BITS) {
    return `the RSA key "${kid}" must have at least ${MIN_RSA_BITS} bits, got ${bits} bits: replace it`
  }
  const exponent = integerOf(e)
  if (exponent >= MIN_RSA_EXPONENT) return undefined
  return `the RSA key "${kid}" must have an exponent of at least ${MIN_RSA_EXPONENT}, got ${exponent}: replace it`
}

/** Reads a big-endian integer in base64url. Any other text is read as 0, and is thus too small. */
function integerOf(text: string): bigint {
  let bytes: Uint8Array
  try {
    bytes = decodeBytes(text)
  } catch {
    return 0n
  }
  const digits = Array.from(bytes, byte => byte.toString(16).padStart(2, '0'))
  return BigInt(`0x0${digits.join('')}`)
}

/** Selects the keys of a set that may verify tokens. The other keys are ignored, also if they are weak or ambiguous. */
const verifying = (keys: readonly JWK[]): JWK[] => keys.filter(key => algorithmOf(key, 'RS256') !== undefined)

const ambiguity = (kid: string): string =>
  `two keys of the set have the kid "${kid}": publish each key under a kid of its own`

/** Checks a set that does not change. Throws a `TypeError` that names a weak key, or a `kid` that two keys share. */
export function assertKeySet(keys: readonly JWK[]): void {
  const seen = new Set<string>()
  for (const key of verifying(keys)) {
    const weakness = weaknessOf(key)
    if (weakness !== undefined) throw new TypeError(weakness)
    if (key.kid === undefined) continue
    if (seen.has(key.kid)) throw new TypeError(ambiguity(key.kid))
    seen.add(key.kid)
  }
}

/**
 * Finds the key of a `kid` in a set that may change. If no key with that `kid` may verify tokens, returns the first key with
 * it, or undefined. Fault: `ERR_KEYS_UNAVAILABLE` if two keys of that `kid` may verify, since neither can be preferred.
 */
export function findKey(keys: readonly JWK[], kid: string): JWK | undefined {
  const named = keys.filter(key => key.kid === kid)
  const [key, another] = verifying(named)
  if (another) throw new Fault('ERR_KEYS_UNAVAILABLE', ambiguity(kid))
  return key ?? named[0]
}
