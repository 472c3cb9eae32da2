import { Fault, knownOptions, type OptionNames } from '@gatewright/kernel'
import { createRemoteJWKSet, importJWK, type CryptoKey, type JWK } from 'jose'
import { algorithmOf, checkKeySet, findKey, weaknessOf } from './key-rules.ts'

/**
 * Where verification keys come from: the public JWK of a key id, or undefined when the source has no such key.
 * A source that cannot be asked throws or rejects; the guard answers 503 and never 401. It may cache, and what it has
 * at hand it may return without a promise.
 */
export type KeySource = (kid: string) => JWK | undefined | Promise<JWK | undefined>

/** A JSON Web Key Set (RFC 7517 section 5). */
export interface KeySet {
  readonly keys: readonly JWK[]
}

/**
 * Keys that this process holds or can ask for, such as the issuer's own in the same process:
 * `localKeys(() => issuer.jwks())`. Asked at every verification that the token cache does not answer.
 * Throws a `TypeError` for a set that has an RSA key under 2,048 bits or with an exponent under 65,537, or two keys
 * with one `kid`. Where a function answers such a set, tokens of that `kid` are answered `ERR_KEYS_UNAVAILABLE` (503)
 * and those of other keys are served.
 */
export function localKeys(source: KeySet | (() => KeySet | Promise<KeySet>)): KeySource {
  if (typeof source === 'function') {
    return async kid => findKey((await source()).keys, kid)
  }
  const { keys: given } = source ?? {}
  if (!Array.isArray(given))
    throw new TypeError('localKeys: a key set must be { keys: [...] } or a function that gives one')
  checkKeySet(given)
  const keys = source.keys.map(key => Object.freeze({ ...key }))
  const byId = new Map(keys.map(({ kid }) => [kid, kid === undefined ? undefined : findKey(keys, kid)]))
  return async kid => byId.get(kid)
}

/** Options of `remoteKeys`. */
export interface RemoteKeysOptions {
  /** How long a fetched set is used, in ms. Default 600 000. Keep it at or below the issuer's max-age. */
  readonly maxAgeMs?: number
  /** The least time between two fetches that unknown key ids cause, in ms. Default 30 000. */
  readonly cooldownMs?: number
  /** How long one fetch may take, in ms. Default 5000. */
  readonly timeoutMs?: number
  /**
   * Takes a plain `http:` address of another machine. Default false: whoever can change such an answer can forge tokens.
   * Declare it for a private network only. `http:` to this machine (127.0.0.0/8, ::1, localhost) is always taken.
   */
  readonly allowHttp?: boolean
}

const REMOTE_OPTIONS: OptionNames<RemoteKeysOptions> = {
  maxAgeMs: true,
  cooldownMs: true,
  timeoutMs: true,
  allowHttp: true,
}

/**
 * Keys of another issuer, fetched from its JWKS address and refreshed when it is old or a key id is unknown
 * (jose's remote key set: one fetch at a time). Redirects are not followed. An RSA key under 2,048 bits or with an
 * exponent under 65,537, or two keys with one `kid`, answer `ERR_KEYS_UNAVAILABLE` (503) to the tokens of that `kid`
 * until a later fetch brings a good set; tokens of the other keys are served.
 * Throws a `TypeError` for an address that is neither `https:` nor, without `allowHttp`, `http:` to this machine.
 */
export function remoteKeys(url: URL, options: RemoteKeysOptions = {}): KeySource {
  knownOptions('remoteKeys', options, REMOTE_OPTIONS)
  const { maxAgeMs = 600_000, cooldownMs = 30_000, timeoutMs = 5000, allowHttp = false } = options
  checkKeyAddress(url, allowHttp)
  const find = createRemoteJWKSet(url, {
    cacheMaxAge: maxAgeMs,
    cooldownDuration: cooldownMs,
    timeoutDuration: timeoutMs,
  })
  return async kid => {
    if (!find.fresh) await find.reload()
    const held = (): JWK | undefined => findKey(find.jwks()?.keys ?? [], kid)
    const key = held()
    if (key || find.coolingDown) return key
    await find.reload()
    return held()
  }
}

/** What a URL calls this machine: it has made all spellings of an address one. */
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

function checkKeyAddress(url: URL, allowHttp: boolean): void {
  if (!(url instanceof URL)) throw new TypeError(`remoteKeys: the address must be a URL, not ${typeof url}`)
  if (typeof allowHttp !== 'boolean')
    throw new TypeError(`remoteKeys: allowHttp must be true or false, not ${typeof allowHttp}`)
  const { protocol, hostname } = url
  if (protocol === 'https:') return
  if (protocol !== 'http:')
    throw new TypeError(`remoteKeys: the address must begin with https:, not ${protocol}`)
  if (allowHttp || LOOPBACK.test(hostname)) return
  throw new TypeError(
    `remoteKeys: http://${hostname} is not encrypted, and whoever can change what it answers can forge tokens: use https:, or set allowHttp: true where the network to it is private`,
  )
}

/** A key ready to verify, with the one algorithm it may be used with. */
export interface PinnedKey {
  readonly key: CryptoKey
  readonly algorithm: string
  /** All its names, as jose wants them. */
  readonly algorithms: string[]
}

/** Finds the key of a `kid`. Undefined: no such key, or one that may not verify. */
export type PinnedKeys = (kid: string) => Promise<PinnedKey | undefined>

/**
 * Asks the source and imports each key once. Fault: `ERR_KEYS_UNAVAILABLE` when the source throws
 * or holds a key that cannot be read or is too weak.
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
      const weakness = weaknessOf(jwk)
      if (weakness !== undefined) throw new Fault('ERR_KEYS_UNAVAILABLE', weakness)
      const key = (await importJWK(jwk, algorithm, { extractable: false })) as CryptoKey
      pinned = { key, algorithm, algorithms: algorithm === 'EdDSA' ? ['EdDSA', 'Ed25519'] : [algorithm] }
      if (imported.size >= 64) imported.clear()
      imported.set(text, pinned)
    }
    // A frozen object cannot become another key later; one that could is read anew each time.
    if (Object.isFrozen(jwk)) known.set(jwk, pinned)
    return pinned
  }
  return async kid => {
    try {
      const jwk = await source(kid)
      return jwk && (known.get(jwk) ?? (await pin(jwk)))
    } catch (cause) {
      if (cause instanceof Fault) throw cause
      throw new Fault('ERR_KEYS_UNAVAILABLE', 'verification keys are unavailable', { cause })
    }
  }
}
