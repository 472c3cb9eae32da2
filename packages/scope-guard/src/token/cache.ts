import type { EpochMs } from '@gatewright/kernel'
import { LRUCache } from '#platform/lru'

/** Caches verified tokens of one process by the SHA-256 of their text. Any entry may be evicted at any time. */
export interface TokenCache<T> {
  /** Returns the value that was set for this digest. The caller checks whether it is still fresh. */
  get(digest: string): T | undefined
  delete(digest: string): void
  /** Caches a value. `tokenBytes` is the length of the token, which bounds that of the texts in the value. */
  set(digest: string, value: T, tokenBytes: number, now: EpochMs): void
}

/** The approximate size of an entry without the texts and lists of its session, in bytes. */
const ENTRY_BYTES = 1280
/** The approximate size of an entry of a session's lists, such as a scope, in bytes. */
const LISTED_BYTES = 96

/** Each time that this many entries were added, up to twice as many expired entries are removed, so that they do not accumulate. */
const SETS_PER_SWEEP = 16

/**
 * Makes the cache, bounded by bytes. It has no text of a token, so neither a heap snapshot nor a core dump shows one. Entries
 * are removed after their `keptUntil`, a few with every 16 new ones. `listed` returns how many scopes and policy ids a value
 * has, to estimate its size. If the cache is full, the least recently used entry is evicted; use is recorded only once it is
 * half full.
 */
export function createTokenCache<T extends { readonly keptUntil: EpochMs }>(
  bytes: number,
  listed: (value: T) => number,
): TokenCache<T> {
  const cache = new LRUCache<string, T>({ maxSize: bytes })
  let sets = 0
  const sweep = (now: EpochMs): void => {
    let left = 2 * SETS_PER_SWEEP
    for (const digest of cache.rkeys()) {
      const value = cache.peek(digest)
      if (value === undefined || now < value.keptUntil || left-- === 0) return
      cache.delete(digest)
    }
  }
  return {
    get(digest) {
      // Recording the use of an entry costs as much as finding it, and matters only when entries may be evicted.
      const halfEmpty = cache.calculatedSize * 2 < bytes
      return halfEmpty ? cache.peek(digest) : cache.get(digest)
    },
    delete(digest) {
      cache.delete(digest)
    },
    set(digest, value, tokenBytes, now) {
      if (++sets % SETS_PER_SWEEP === 0) sweep(now)
      cache.set(digest, value, { size: tokenBytes + ENTRY_BYTES + listed(value) * LISTED_BYTES })
    },
  }
}
