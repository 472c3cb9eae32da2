import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { EpochMs } from '@gatewright/kernel'

/** What the cache holds for a token beside the value itself. */
interface Entry<T> {
  readonly value: T
  /** From here on the token is verified anew. */
  readonly until: EpochMs
}

/** The identity of a token: SHA-256 of the whole of it, as text of one character per byte. */
export function tokenDigest(token: string): string {
  return hash('sha256', token, 'latin1' as 'hex')
}

/** Verified tokens of one process by `tokenDigest`. An entry may vanish at any time; nothing depends on it. */
export interface TokenCache<T> {
  get(digest: string, now: EpochMs): T | undefined
  /** `length` is the token's, for the bound by bytes. */
  set(digest: string, length: number, value: T, until: EpochMs): void
}

/** A rough size of one entry beside its token text, in bytes: session, scope set, map slots. */
const ENTRY_BYTES = 1024

/**
 * Keyed by digest of the whole token: no part of it (two tokens could share one) and no raw token in memory.
 * Bounded by entries and by bytes; the least recently used goes first, of those used since it was half full.
 */
export function tokenCache<T>(entries: number, bytes: number): TokenCache<T> {
  const cache = new LRUCache<string, Entry<T>>({ max: entries, maxSize: bytes })
  return {
    get(digest, now) {
      // The order of use matters only once something may have to go; keeping it costs as much as finding the entry.
      const roomy = cache.size * 2 < entries && cache.calculatedSize * 2 < bytes
      const entry = roomy ? cache.peek(digest) : cache.get(digest)
      return entry && now < entry.until ? entry.value : undefined
    },
    set(digest, length, value, until) {
      cache.set(digest, { value, until }, { size: length + ENTRY_BYTES })
    },
  }
}
