import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { EpochMs } from '@gatewright/kernel'

/** What the cache holds for a token beside the value itself. */
interface Entry<T> {
  readonly value: T
  /** From here on the token is verified anew. */
  readonly until: EpochMs
}

/** Verified tokens of one process. An entry may vanish at any time; nothing depends on it. */
export interface TokenCache<T> {
  get(token: string, now: EpochMs): T | undefined
  set(token: string, value: T, until: EpochMs): void
}

/** A rough size of one entry beside its token text, in bytes: session, scope set, map slots. */
const ENTRY_BYTES = 1024

/**
 * Keyed by SHA-256 of the whole token: no part of it (two tokens could share one) and no raw token in memory.
 * Bounded by entries and by bytes; the least recently used goes first.
 */
export function tokenCache<T>(entries: number, bytes: number): TokenCache<T> {
  const cache = new LRUCache<string, Entry<T>>({ max: entries, maxSize: bytes })
  const key = (token: string): string => hash('sha256', token, 'latin1' as 'hex')
  return {
    get(token, now) {
      const entry = cache.get(key(token))
      return entry && now < entry.until ? entry.value : undefined
    },
    set(token, value, until) {
      cache.set(key(token), { value, until }, { size: token.length + ENTRY_BYTES })
    },
  }
}
