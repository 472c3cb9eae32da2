import { Fault } from '@gatewright/kernel'
import { createRemoteJWKSet, importJWK, type CryptoKey, type JWK } from 'jose'

/**
 * Where verification keys come from: the public JWK of a key id, or undefined when the source has no such key.
 * A source that cannot be asked throws or rejects; the guard answers 503 and never 401. It may cache.
 */
export type KeySource = (kid: string) => JWK | undefined | Promise<JWK | undefined>

/** A JSON Web Key Set (RFC 7517 section 5). */
export interface KeySet {
  readonly keys: readonly JWK[]
}

/**
 * Keys that this process holds or can ask for, such as the issuer's own in the same process:
 * `localKeys(() => issuer.jwks())`. Asked at every verification that the token cache does not answer.
 */
export function localKeys(source: KeySet | (() => KeySet | Promise<KeySet>)): KeySource {
  if (typeof source === 'function') {
    return async kid => (await source()).keys.find(key => key.kid === kid)
  }
  const byId = new Map(source.keys.map(key => [key.kid, Object.freeze({ ...key })]))
  return kid => byId.get(kid)
}

/** Options of `remoteKeys`. */
export interface RemoteKeysOptions {
  /** How long a fetched set is used, in ms. Default 600 000. Keep it at or below the issuer's max-age. */
  readonly maxAgeMs?: number
  /** The least time between two fetches that unknown key ids cause, in ms. Default 30 000. */
  readonly cooldownMs?: number
  /** How long one fetch may take, in ms. Default 5000. */
  readonly timeoutMs?: number
}

/**
 * Keys of another issuer, fetched from its JWKS address and refreshed when it is old or a key id is unknown
 * (jose's remote key set: one fetch at a time). Redirects are not followed.
 */
export function remoteKeys(url: URL, options: RemoteKeysOptions = {}): KeySource {
  const { maxAgeMs = 600_000, cooldownMs = 30_000, timeoutMs = 5000 } = options
  const find = createRemoteJWKSet(url, {
    cacheMaxAge: maxAgeMs,
    cooldownDuration: cooldownMs,
    timeoutDuration: timeoutMs,
  })
  return async kid => {
    if (!find.fresh) await find.reload()
    const held = (): JWK | undefined => find.jwks()?.keys.find(key => key.kid === kid)
    const key = held()
    if (key || find.coolingDown) return key
    await find.reload()
    return held()
  }
}

/** A key ready to verify, with the one algorithm it may be used with. */
export interface PinnedKey {
  readonly key: CryptoKey
  readonly algorithm: string
  /** The same as a list, as jose wants it. */
  readonly algorithms: string[]
}

const BY_CURVE: ReadonlyMap<string, string> = new Map([
  ['P-256', 'ES256'],
  ['P-384', 'ES384'],
  ['P-521', 'ES512'],
  ['Ed25519', 'EdDSA'],
])

/**
 * The one algorithm of a key: its `alg`, else what its curve implies, else (RSA) `rsaAlgorithm`. Undefined for
 * keys that may not verify here: symmetric ones (whoever verifies could sign), private ones, other uses.
 */
function algorithmOf(jwk: JWK, rsaAlgorithm: string): string | undefined {
  if (jwk.kty === 'oct' || 'd' in jwk || (jwk.use !== undefined && jwk.use !== 'sig')) return undefined
  if (jwk.key_ops !== undefined && !jwk.key_ops.includes('verify')) return undefined
  const implied = jwk.kty === 'RSA' ? rsaAlgorithm : BY_CURVE.get(jwk.crv ?? '')
  if (jwk.kty === 'RSA') return jwk.alg ?? implied
  // RFC 9864 names EdDSA with Ed25519 "Ed25519"; both name one algorithm.
  return jwk.alg === undefined || jwk.alg === implied || jwk.alg === 'Ed25519' ? implied : undefined
}

/** Finds the key of a `kid`; without a promise where it is known. Undefined: no such key, or one that may not verify. */
export type PinnedKeys = (kid: string) => PinnedKey | undefined | Promise<PinnedKey | undefined>

/**
 * Asks the source and imports each key once. Fault, thrown or rejected: `ERR_KEYS_UNAVAILABLE` when the source throws
 * or holds a key that cannot be read.
 */
export function pinnedKeys(source: KeySource, rsaAlgorithm: string): PinnedKeys {
  /** By the key's text: a source may hand out a fresh object each time. Sets are small; drop all at 64. */
  const imported = new Map<string, PinnedKey>()
  const known = new WeakMap<JWK, PinnedKey>()
  const pin = async (jwk: JWK): Promise<PinnedKey | undefined> => {
    const algorithm = algorithmOf(jwk, rsaAlgorithm)
    if (algorithm === undefined) return undefined
    const text = JSON.stringify(jwk)
    let pinned = imported.get(text)
    if (!pinned) {
      const key = (await importJWK(jwk, algorithm, { extractable: false })) as CryptoKey
      pinned = { key, algorithm, algorithms: [algorithm] }
      if (imported.size >= 64) imported.clear()
      imported.set(text, pinned)
    }
    // A frozen object cannot become another key later; one that could is read anew each time.
    if (Object.isFrozen(jwk)) known.set(jwk, pinned)
    return pinned
  }
  const unavailable = (cause: unknown): never => {
    if (cause instanceof Fault) throw cause
    throw new Fault('ERR_KEYS_UNAVAILABLE', 'verification keys cannot be had', { cause })
  }
  const pinnedOf = (jwk: JWK | undefined) => jwk && (known.get(jwk) ?? pin(jwk))
  return kid => {
    try {
      const found = source(kid)
      // Whatever has a `then` is waited for: a promise of another realm or of a library is no key.
      const pinned = found && 'then' in found ? Promise.resolve(found).then(pinnedOf) : pinnedOf(found)
      return pinned instanceof Promise ? pinned.catch(unavailable) : pinned
    } catch (cause) {
      return unavailable(cause)
    }
  }
}
