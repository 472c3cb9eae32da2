import { Fault, orFault, SESSION_TOKEN_TYPE, type EpochMs } from '@gatewright/kernel'
import { importSigningKey } from '#platform/sign-token'
import type { JWK } from 'jose'
import type { SigningAlgorithm, SigningKey, SigningKeySet } from '../storage/signing-port.ts'
import { changeKeySet, type KeySetOptions } from './change-key-set.ts'
import { publishedKeys, signingKeyAt, stateOf, type SigningKeyState } from './schedule.ts'
import type { SignToken } from './sign-token.ts'

/** Options of `createKeyRing`. */
interface KeyRingOptions extends KeySetOptions {
  /** How long a host trusts the key set it has loaded, in ms. */
  readonly refreshMs: number
}

/** A signing key as operators see it: its state and times, without the private key. */
export interface SigningKeyInfo {
  readonly kid: string
  readonly algorithm: SigningAlgorithm
  readonly state: SigningKeyState
  readonly activatesAt: EpochMs
  readonly retiresAt: EpochMs | null
  readonly dropsAt: EpochMs | null
}

/** The signing keys of one issuer on one host. Each function uses a set that was read from the store at most `refreshMs` ago. */
export interface KeyRing {
  /** Returns the function that signs with the active key. */
  signer(): Promise<SignToken>
  /** The public keys that are not dropped, newest first. */
  publicKeys(): Promise<readonly JWK[]>
  /** The public key of a `kid`. An unknown `kid` makes the host read the store again, at most once a second. */
  publicKey(kid: string): Promise<JWK | undefined>
  list(): Promise<readonly SigningKeyInfo[]>
  /**
   * Announces a successor of a key that has been active for `ageMs`, unless one is already announced. Of simultaneous
   * calls on any number of hosts one resolves to true. False where the keys come from configuration.
   */
  rotate(ageMs: number): Promise<boolean>
  /** Drops a key immediately. False when it is not published. */
  drop(kid: string): Promise<boolean>
}

/** Loads, caches and changes the set of signing keys; creates the first key on first use. */
export function createKeyRing(options: KeyRingOptions): KeyRing {
  const { storage, clock, refreshMs } = options
  let cached: { set: SigningKeySet; loadedAt: EpochMs } | undefined
  let loading: Promise<SigningKeySet> | undefined
  const signers = new Map<string, Promise<SignToken>>()

  /**
   * Loads the set. If there is none, creates it with a first key: of simultaneous calls on any number of hosts, one creates the
   * key, and the others load it.
   */
  const loadOrCreate = async (): Promise<SigningKeySet> => {
    const loadedAt = clock.now()
    let set = await storage.load()
    if (!signingKeyAt(set.keys, clock.now())) {
      await changeKeySet(options, keys => (signingKeyAt(keys, clock.now()) ? undefined : 'announce'))
      set = await storage.load()
    }
    cached = { set, loadedAt }
    for (const kid of signers.keys()) if (!set.keys.some(key => key.kid === kid)) signers.delete(kid)
    return set
  }
  const reload = (): Promise<SigningKeySet> => {
    loading ??= loadOrCreate().finally(() => {
      loading = undefined
    })
    return loading
  }
  /** Reads the set again after a change. A load that is running is not reused: it may have begun before the change. */
  const renew = async (): Promise<void> => {
    await loading?.catch(() => undefined)
    await reload()
  }
  /** The cached set while it is fresh; without a promise, because every mint calls this. */
  const fresh = (): SigningKeySet | undefined => {
    const age = cached ? clock.now() - cached.loadedAt : Infinity
    // If the clock was set back, the age is negative, and the set may be older than it seems.
    return age >= 0 && age < refreshMs ? cached?.set : undefined
  }
  const current = async (): Promise<SigningKeySet> => fresh() ?? reload()
  const signerOf = ({ keys }: SigningKeySet): Promise<SignToken> => {
    const key = signingKeyAt(keys, clock.now())
    if (!key) throw new Fault('ERR_KEYS_UNAVAILABLE', 'no signing key is active')
    let signer = signers.get(key.kid)
    if (!signer) {
      signer = toSigner(key)
      signers.set(key.kid, signer)
      signer.catch(() => signers.delete(key.kid))
    }
    return signer
  }

  return {
    signer() {
      const set = fresh()
      return set ? signerOf(set) : reload().then(signerOf)
    },
    async publicKeys() {
      const { keys } = await current()
      return publishedKeys(keys, clock.now()).map(toPublic)
    },
    async publicKey(kid) {
      const find = ({ keys }: SigningKeySet): SigningKey | undefined =>
        publishedKeys(keys, clock.now()).find(key => key.kid === kid)
      let key = find(await current())
      if (!key && cached && clock.now() - cached.loadedAt >= 1000) key = find(await reload())
      return key && toPublic(key)
    },
    async list() {
      const { keys } = await reload()
      const now = clock.now()
      return keys.map(({ privateJwk: _private, ...key }) => ({ ...key, state: stateOf(key, now) }))
    },
    async rotate(ageMs) {
      if (storage.fixed) return false
      const done = await changeKeySet(options, keys => {
        const now = clock.now()
        if (keys.some(key => stateOf(key, now) === 'announced')) return undefined
        const signing = signingKeyAt(keys, now)
        return signing && now - signing.activatesAt < ageMs ? undefined : 'announce'
      })
      await renew()
      return done
    },
    async drop(kid) {
      const done = await changeKeySet(options, keys =>
        publishedKeys(keys, clock.now()).some(key => key.kid === kid) ? { drop: kid } : undefined,
      )
      await renew()
      return done
    },
  }
}

function toSigner({ kid, algorithm: alg, privateJwk }: SigningKey): Promise<SignToken> {
  return orFault('signing key', () => importSigningKey(privateJwk, { alg, kid, typ: SESSION_TOKEN_TYPE }))
}

/** Copies the public members by name, so that a private one can never be published (RFC 7517, RFC 8037). */
function toPublic({ kid, algorithm, privateJwk: { kty, crv, x, y } }: SigningKey): JWK {
  return {
    ...(y === undefined ? { kty, crv, x } : { kty, crv, x, y }),
    kid,
    alg: algorithm,
    use: 'sig',
  } as JWK
}
