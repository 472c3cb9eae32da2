import { allow, type Denial, type Surface, type Verdict } from '@gatewright/kernel'
import { LRUCache } from 'lru-cache'
import { deny, type IssuerDenial, type IssuerReason } from '../codes.ts'
import { isLive, toApiKey } from './key.ts'
import type { KeyTexts } from './key-text.ts'
import type { CheckedOptions } from '../options.ts'
import type { Peppers } from './peppers.ts'
import type { ApiKey, KeyRecord } from '../storage/port.ts'
import { createUseLog } from './use-log.ts'

/**
 * Runs the read of a key that is not known: when it likes, or not at all, and then its own denial is the answer. For a
 * host that bounds what strangers' keys cost.
 */
export type AroundRead<D extends Denial> = (
  read: () => Promise<Verdict<ApiKey, IssuerDenial>>,
) => Promise<Verdict<ApiKey, IssuerDenial> | D>

/** Decides whether a presented text is a live key. */
export interface Authenticator {
  authenticateKey<D extends Denial = never>(
    text: unknown,
    surface: Surface,
    around?: AroundRead<D>,
  ): Promise<Verdict<ApiKey, IssuerDenial | D>>
  /** Forgets what is cached of a key that was changed. */
  forget(key: KeyRecord): void
  flush(): Promise<void>
}

/** A key as it was read. Not the text: a cache of secrets would be one more place to lose them from. */
interface Cached {
  readonly record: KeyRecord
  readonly allowed: Verdict<ApiKey, IssuerDenial>
  readonly matches: (text: string) => boolean
  /** Start of the read, on the monotonic clock: a wall clock set back must not lengthen the trust. */
  readonly readAt: number
}

/** One message for every cause: which check failed would help whoever guesses. `reason` is for the event. */
const refusal = (reason: IssuerReason): Promise<IssuerDenial> => {
  const denial = Object.freeze(deny('unauthorized', 'the API key is not valid', { reason }))
  return Promise.resolve(denial)
}
const JUNK = refusal('not a key of this environment and surface')
const UNKNOWN = refusal('no such key')
const WRONG = refusal('wrong secret, or its pepper is gone')
const REVOKED = refusal('revoked')
const PAST = refusal('past its end')

/** Makes the authenticator. The secret is compared before the state of the key is looked at. */
export function createAuthenticator(
  options: CheckedOptions,
  texts: KeyTexts,
  peppers: Peppers,
): Authenticator {
  const { keys, clock, keyCacheMs, keyCacheSize } = options
  const cache = new LRUCache<string, Cached>({ max: keyCacheSize })
  const uses = createUseLog(options)

  const decide = (text: string, found: Cached): Promise<Verdict<ApiKey, IssuerDenial>> => {
    const { record, allowed } = found
    if (!found.matches(text)) return WRONG
    const now = clock.now()
    if (!isLive(record, now)) return record.revokedAt === null ? PAST : REVOKED
    const rehash = peppers.isOld(record) ? peppers.digest(text) : undefined
    const pressing = uses.record(record.id, now, record.lastUsedAt ?? 0, rehash)
    return pressing ? uses.flush().then(() => allowed) : Promise.resolve(allowed)
  }
  const read = async (id: string, text: string, surface: Surface): Promise<Verdict<ApiKey, IssuerDenial>> => {
    const readAt = performance.now()
    const record = await keys.find(id)
    if (record?.surface !== surface) return UNKNOWN
    const found = { record, allowed: allow(toApiKey(record)), matches: peppers.matcher(record), readAt }
    cache.set(id, found)
    return decide(text, found)
  }

  return {
    // Not async, so that junk and known keys cost no more than they must.
    authenticateKey(text, surface, around) {
      const id = texts.readId(surface, text)
      if (id === undefined) return JUNK
      const cached = cache.get(id)
      const fresh = cached !== undefined && performance.now() - cached.readAt < keyCacheMs
      if (fresh) return decide(text as string, cached)
      const readKey = () => read(id, text as string, surface)
      // A text that proved itself before is no stranger's.
      return around === undefined || cached?.matches(text as string) ? readKey() : around(readKey)
    },
    forget: ({ id }) => {
      cache.delete(id)
    },
    flush: uses.flush,
  }
}
