import { Fault } from '@gatewright/kernel'
import { checkOptions } from '@gatewright/kernel/internal'
import { importVerificationKey } from '#platform/signature'
import type { createRemoteJWKSet, FetchImplementation, JWK } from 'jose'
import { fetchDocument } from './fetch-json.ts'
import { assertKeyUrl, failureOf } from './key-url.ts'
import { algorithmName, algorithmOf, assertKeySet, findKey, weaknessOf } from './key-rules.ts'
import type { VerificationKey } from './signature.ts'

/**
 * Returns the public JWK of a key id, or undefined if there is no such key. If the keys are unavailable, throw or reject:
 * the guard then throws a fault (503) and never denies with 401. A source may cache, and may return without a promise.
 */
export interface KeySource {
  (kid: string): JWK | undefined | Promise<JWK | undefined>
  /**
   * Returns all keys, for tokens that name none: such a token is verified by the only key of its algorithm, and denied if the set has
   * none or several. Without this function, it is denied.
   */
  readonly all?: () => readonly JWK[] | Promise<readonly JWK[]>
}

/** A JSON Web Key Set (RFC 7517 section 5). */
export interface KeySet {
  readonly keys: readonly JWK[]
}

/**
 * Makes a source of keys that this process has, such as those of an issuer in the same process:
 * `localKeys(() => issuer.jwks())`. A function is called at every verification of a token that is not cached.
 * Throws a `TypeError` for a set with a secret key, with an RSA key under 2,048 bits or with an exponent under 65,537, or with two keys of one
 * `kid`. If a function returns such a set, tokens of that `kid` are a fault (`ERR_KEYS_UNAVAILABLE`, 503), and tokens of
 * the other keys are verified.
 */
export function localKeys(source: KeySet | (() => KeySet | Promise<KeySet>)): KeySource {
  if (typeof source === 'function') {
    const all = async (): Promise<readonly JWK[]> => (await source()).keys
    return Object.assign(async (kid: string) => findKey(await all(), kid), { all })
  }
  if (!Array.isArray(source?.keys)) {
    throw new TypeError('localKeys: the key set must be { keys: [...] } or a function that returns one')
  }
  assertKeySet(source.keys)
  for (const key of source.keys) assertPublic(key)
  const keys = source.keys.map(key => Object.freeze({ ...key }))
  const byId = new Map(keys.map(({ kid }) => [kid, kid === undefined ? undefined : findKey(keys, kid)]))
  return Object.assign((kid: string) => byId.get(kid), { all: () => keys })
}

/** Members of a JWK that only who signs may know (RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1). */
const SECRET_MEMBERS = ['d', 'k', 'p', 'q'] as const

function assertPublic(key: JWK): void {
  const member = SECRET_MEMBERS.find(name => key[name] !== undefined)
  if (member === undefined) return
  throw new TypeError(
    `localKeys: the key ${key.kid ?? 'without kid'} has the secret member ${member}, with which anyone who reads this code signs tokens: give the public key only, and replace the secret one`,
  )
}

/** Options of `remoteKeys` and `discoverKeys`. */
export interface RemoteKeysOptions {
  /** How long a fetched set is used, in ms, 0 to 604 800 000 (7 days), default 600 000. Do not exceed the issuer's `max-age`. */
  readonly maxAgeMs?: number
  /** The minimum time between two fetches that unknown key ids cause, in ms, 0 to 3 600 000, default 30 000. */
  readonly cooldownMs?: number
  /** How long one fetch may take, in ms, 1 to 60 000, default 5000. */
  readonly timeoutMs?: number
  /**
   * Allows an `http:` URL of another machine. Default false: whoever can change the response can forge tokens. Set it for a
   * private network only. `http:` URLs of this machine (127.0.0.0/8, ::1, localhost) are always allowed.
   */
  readonly allowHttp?: boolean
}

/** Checks the options and fills in defaults. Throws a `TypeError` that names the option and the bound. */
export function checkedRemoteOptions(where: string, options: RemoteKeysOptions): Required<RemoteKeysOptions> {
  return checkOptions(where, options, {
    maxAgeMs: { min: 0, max: 604_800_000, default: 600_000 },
    cooldownMs: { min: 0, max: 3_600_000, default: 30_000 },
    timeoutMs: { min: 1, max: 60_000, default: 5000 },
    allowHttp: { default: false },
  })
}

/**
 * Makes a source of another issuer's keys. It fetches the issuer's JWKS URL, and fetches it again when the set is old or a
 * key id is unknown (jose's remote key set: one fetch at a time). Redirects are not followed. With an RSA key under 2,048
 * bits or with an exponent under 65,537, or with two keys of one `kid`, tokens of that `kid` are a fault
 * (`ERR_KEYS_UNAVAILABLE`, 503) until a fetch returns a valid set; tokens of the other keys are verified.
 * Throws a `TypeError` unless the URL is `https:`, or `http:` to this machine, or `http:` with `allowHttp`.
 */
export function remoteKeys(url: URL, options: RemoteKeysOptions = {}): KeySource {
  const { maxAgeMs, cooldownMs, timeoutMs, allowHttp } = checkedRemoteOptions('remoteKeys', options)
  assertKeyUrl('remoteKeys', url, allowHttp)
  const target = new URL(url)
  // jose's own limit reads a body without an end, and a garbage collection on Node 20 can cut it off from the response.
  const fetchKeys: FetchImplementation = async (address, { headers }) =>
    new Response(await fetchDocument(address, timeoutMs, headers))
  // Loaded when keys are first needed, because a process starts faster without it.
  const load = async (): Promise<ReturnType<typeof createRemoteJWKSet>> => {
    try {
      const { createRemoteJWKSet, customFetch } = await import('jose/jwks/remote')
      return createRemoteJWKSet(target, {
        cacheMaxAge: maxAgeMs,
        cooldownDuration: cooldownMs,
        [customFetch]: fetchKeys,
      })
    } catch (error) {
      // The next call tries again: a process may be out of file descriptors for a moment.
      loading = undefined
      throw error
    }
  }
  let loading: ReturnType<typeof load> | undefined
  const reload = async ({ reload }: Awaited<ReturnType<typeof load>>): Promise<void> => {
    try {
      await reload()
    } catch (cause) {
      const failure = `the key set ${target.origin}${target.pathname} is unavailable: ${failureOf(cause)}`
      throw new Fault('ERR_KEYS_UNAVAILABLE', failure, { cause })
    }
  }
  const fresh = async (): ReturnType<typeof load> => {
    const remote = await (loading ??= load())
    if (!remote.fresh) await reload(remote)
    return remote
  }
  const all = async (): Promise<readonly JWK[]> => keysOf(await fresh())
  const byId = async (kid: string): Promise<JWK | undefined> => {
    const remote = await fresh()
    const key = findKey(keysOf(remote), kid)
    if (key || remote.coolingDown) return key
    await reload(remote)
    return findKey(keysOf(remote), kid)
  }
  return Object.assign(byId, { all })
}

const keysOf = (remote: ReturnType<typeof createRemoteJWKSet>): readonly JWK[] => remote.jwks()?.keys ?? []

/** An imported key with the only algorithm that it may be used with. */
export interface PinnedKey {
  readonly key: VerificationKey
  readonly algorithm: string
}

/**
 * Finds the key of a `kid`, or for a token without one the only key of its algorithm `alg`: undefined if there is no such key, or it may
 * not verify tokens. Returns no promise if the key was
 * imported before and the source returns it without a promise. Fault, rejected: `ERR_KEYS_UNAVAILABLE` if the source throws, or
 * the key cannot be read or is too weak.
 */
export type FindPinnedKey = (
  kid: string | undefined,
  alg?: unknown,
) => PinnedKey | Promise<PinnedKey | undefined>

/** Makes the function that finds keys in a source and imports each key once. */
export function createPinnedKeyFinder(source: KeySource, rsaAlgorithm: string): FindPinnedKey {
  /** By the key's JSON, since a source may return a new object each time. Sets are small; at 64 keys the map is cleared. */
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
      pinned = { key: await importVerificationKey(jwk, algorithm), algorithm }
      if (imported.size >= 64) imported.clear()
      imported.set(text, pinned)
    }
    // A frozen object cannot become another key. A mutable object is read again each time.
    if (Object.isFrozen(jwk)) known.set(jwk, pinned)
    return pinned
  }
  const pinFound = async (find: () => ReturnType<KeySource>): Promise<PinnedKey | undefined> => {
    try {
      const jwk = await find()
      return jwk && (known.get(jwk) ?? (await pin(jwk)))
    } catch (cause) {
      if (cause instanceof Fault) throw cause
      throw new Fault('ERR_KEYS_UNAVAILABLE', 'verification keys are unavailable', { cause })
    }
  }
  const onlyKeyOf = async (alg: unknown): Promise<JWK | undefined> => {
    const [key, another] = ((await source.all?.()) ?? []).filter(
      jwk => algorithmOf(jwk, rsaAlgorithm) === algorithmName(alg),
    )
    return another ? undefined : key
  }
  return (kid, alg) => {
    if (kid === undefined) return pinFound(() => onlyKeyOf(alg))
    let found: ReturnType<KeySource>
    try {
      found = source(kid)
    } catch (error) {
      return pinFound(() => Promise.reject(error))
    }
    return known.get(found as JWK) ?? pinFound(() => found)
  }
}
