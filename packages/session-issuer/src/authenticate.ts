import { allow, type Surface, type Verdict } from '@gatewright/kernel'
import { LRUCache } from 'lru-cache'
import { deny, type IssuerDenial } from './codes.ts'
import { isLive, toApiKey } from './key.ts'
import { readKeyId } from './key-text.ts'
import type { CheckedOptions } from './options.ts'
import type { Peppers } from './peppers.ts'
import type { ApiKey, KeyRecord } from './storage/port.ts'
import { createUseLog } from './use-log.ts'

/** Decides whether a presented text is a live key. */
export interface Authenticator {
  authenticateKey(text: unknown, surface: Surface): Promise<Verdict<ApiKey, IssuerDenial>>
  /** Forgets what is cached of a key that was changed. */
  forget(key: KeyRecord): void
  flush(): Promise<void>
}

interface Cached {
  readonly record: KeyRecord
  readonly key: ApiKey
  /** Start of the read, on the monotonic clock: a wall clock set back must not lengthen the trust. */
  readonly readAt: number
}

/** One message for every cause: which check failed would help whoever guesses. `reason` is for the event. */
const refuse = (reason: string): IssuerDenial => deny('unauthorized', 'the API key is not valid', { reason })

/** Makes the authenticator. The secret is compared before the state of the key is looked at. */
export function createAuthenticator(options: CheckedOptions, peppers: Peppers): Authenticator {
  const { keys, clock, keyCacheMs, keyCacheSize } = options
  const cache = new LRUCache<string, Cached>({ max: keyCacheSize })
  const uses = createUseLog(options)

  const read = async (id: string): Promise<Cached | undefined> => {
    const readAt = performance.now()
    const cached = cache.get(id)
    if (cached && readAt - cached.readAt < keyCacheMs) return cached
    const record = await keys.find(id)
    if (!record) return undefined
    const fresh = { record, key: toApiKey(record), readAt }
    cache.set(id, fresh)
    return fresh
  }

  return {
    async authenticateKey(text, surface) {
      const id = readKeyId(options, surface, text)
      if (id === undefined) return refuse('not a key of this environment and surface')
      const found = await read(id)
      if (!found) return refuse('no such key')
      const { record, key } = found
      if (!peppers.matches(text as string, record)) return refuse('wrong secret, or its pepper is gone')
      if (record.surface !== surface) return refuse('another surface')
      const now = clock.now()
      if (!isLive(key, now)) return refuse(key.revokedAt === null ? 'past its end' : 'revoked')
      const rehash = peppers.isOld(record) ? { rehash: peppers.digest(text as string) } : undefined
      if (uses.record({ id, at: now, ...rehash }, key.lastUsedAt ?? 0)) await uses.flush()
      return allow(key)
    },
    forget: ({ id }) => {
      cache.delete(id)
    },
    flush: uses.flush,
  }
}
