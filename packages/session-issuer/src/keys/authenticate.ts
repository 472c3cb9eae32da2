import { allow, Fault, type Denial, type Verdict } from '@gatewright/kernel'
import { integerOption, type Surface } from '@gatewright/kernel/internal'
import { LRUCache } from 'lru-cache'
import { deny, type IssuerDenial, type IssuerReason } from '../codes.ts'
import { isLive, toApiKey } from '../key.ts'
import { keyPaused } from './pause-key.ts'
import type { KeyTexts } from './key-text.ts'
import { KEY_CACHE_SIZE, MAX_KEY_CACHE_MS } from '../limits.ts'
import type { CheckedOptions } from '../options.ts'
import type { KeyDigester } from './peppers.ts'
import type { ApiKey, KeyRecord } from '../storage/port.ts'
import { createUseLog } from './use-log.ts'

/**
 * Runs the read of a key that this process has not seen live, immediately or later, or denies it with a denial of its own. For a host
 * that limits the reads that unknown keys and keys that have ended cause.
 */
type KeyReadLimiter<D extends Denial> = (
  read: () => Promise<Verdict<ApiKey, IssuerDenial>>,
) => Promise<Verdict<ApiKey, IssuerDenial> | D>

/** How a key is read. */
export interface KeyReading<D extends Denial = never> {
  /** Delays or denies the read of a key that this process has not seen live with this text. Default: it runs at once. */
  readonly limitRead?: KeyReadLimiter<D>
  /**
   * For how long a key that this process has read is trusted, in ms, 0 to 1000, counted from the start of the read. Default 0:
   * each call reads the store, so a key whose change another process has acknowledged is seen as it is now. Above 0, for a key
   * that comes with every request: a key that another process revokes works here for that long, and a session that is issued
   * with it ends at once.
   */
  readonly cacheMs?: number
}

/** Decides whether a presented text is a live key. */
interface Authenticator {
  authenticateKey<D extends Denial = never>(
    text: unknown,
    surface: Surface,
    reading?: KeyReading<D>,
  ): Promise<Verdict<ApiKey, IssuerDenial | D>>
  /** Removes a changed key from the cache. */
  forget(key: KeyRecord): void
  flush(): Promise<void>
}

/** A key as it was read. The text is not cached, because a cache of secrets could leak them. */
interface CachedKey {
  readonly record: KeyRecord
  readonly allowed: Verdict<ApiKey, IssuerDenial>
  /** Undefined if the key's pepper is unknown here. */
  readonly matches: ((text: string) => boolean) | undefined
  /** Start of the read, on the monotonic clock: a wall clock that is set back must not keep the key cached longer. */
  readonly readAt: number
}

/**
 * One message for every cause: knowing which check failed would help an attacker. `reason` is for the decision event.
 */
const denyKey = (reason: IssuerReason): Promise<IssuerDenial> => {
  const denial = Object.freeze(deny('unauthorized', 'the API key is not valid', { reason }))
  return Promise.resolve(denial)
}
const MALFORMED = denyKey('not a key of this environment and surface')
const UNKNOWN = denyKey('no such key')
const WRONG_SECRET = denyKey('wrong secret, or its pepper was removed')
const REVOKED = denyKey('revoked')
const PAUSED = Promise.resolve(keyPaused)
const EXPIRED = denyKey('the key has expired')

/**
 * The fault for a key that another process digested under a pepper that this process does not know. The key may be valid, and
 * after a 401 its holder would discard it. An unknown key gets a 401, so this fault reveals to anyone who sends the id of a key
 * that the key is live. That is acceptable: ids have 83 random bits, so nobody guesses one.
 */
const pepperMissing = ({ id, pepperId }: KeyRecord): Fault =>
  new Fault(
    'ERR_PEPPER_MISSING',
    `the key ${id} is stored under the pepper "${pepperId}", which is not configured: add the pepper, or revoke the key`,
  )

/** Makes the authenticator. If it knows the pepper, it compares the secret before it checks the state of the key. */
export function createAuthenticator(
  options: CheckedOptions,
  texts: KeyTexts,
  peppers: KeyDigester,
): Authenticator {
  const { keys, clock } = options
  // `max` is not used, because with it lru-cache allocates all entries at once (2 ms for 10,000).
  const cache = new LRUCache<string, CachedKey>({ maxSize: KEY_CACHE_SIZE })
  const uses = createUseLog(options)

  const decide = (text: string, found: CachedKey): Promise<Verdict<ApiKey, IssuerDenial>> => {
    const { record, allowed, matches } = found
    const now = clock.now()
    if (!matches && isLive(record, now)) return Promise.reject(pepperMissing(record))
    if (!matches?.(text)) return WRONG_SECRET
    if (!isLive(record, now)) return record.revokedAt === null ? EXPIRED : REVOKED
    if (record.pauses.length > 0) return PAUSED
    const rehash = peppers.isOld(record) ? peppers.digest(text) : undefined
    const writeNow = uses.record(record.id, now, record.lastUsedAt ?? 0, rehash)
    return writeNow ? uses.flush().then(() => allowed) : Promise.resolve(allowed)
  }
  const read = async (id: string, text: string, surface: Surface): Promise<Verdict<ApiKey, IssuerDenial>> => {
    const readAt = performance.now()
    const record = await keys.find(id)
    // Nobody has the text of a console's key, so the presented text is wrong.
    if (record?.surface !== surface || record.console) return UNKNOWN
    const found = { record, allowed: allow(toApiKey(record)), matches: peppers.matcher(record), readAt }
    cache.set(id, found, { size: 1 })
    return decide(text, found)
  }

  return {
    // Not async, so that malformed and cached keys cost no additional promise.
    authenticateKey(text, surface, { limitRead, cacheMs = 0 } = {}) {
      integerOption('authenticateKey cacheMs', cacheMs, 0, MAX_KEY_CACHE_MS)
      const id = texts.readId(surface, text)
      if (id === undefined) return MALFORMED
      const cached = cache.get(id)
      const fresh = cached !== undefined && performance.now() - cached.readAt < cacheMs
      if (fresh) return decide(text as string, cached)
      const readKey = () => read(id, text as string, surface)
      if (limitRead === undefined) return readKey()
      // The text matched this key while it was live, so its holder is never limited. Of a key that has ended, each call would be a read.
      const isGood =
        cached !== undefined && isLive(cached.record, clock.now()) && cached.matches?.(text as string)
      return isGood ? readKey() : limitRead(readKey)
    },
    forget: ({ id }) => {
      cache.delete(id)
    },
    flush: uses.flush,
  }
}
