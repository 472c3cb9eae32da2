import type { EpochMs } from '@gatewright/kernel'
import { readAscii } from '#platform/ascii'
import { LRUCache } from '#platform/lru'
import { createOffHeapPool, SLOT_BYTES, type OffHeapText } from './off-heap-pool.ts'

/** Caches verified tokens of one process by their whole `Authorization` field. Any entry may be evicted at any time. */
export interface TokenCache<T> {
  /** Returns the value that was set for exactly this field. The caller checks whether it is still fresh. */
  get(authorization: string): T | undefined
  delete(authorization: string): void
  /** Caches a value. The field must be ASCII. */
  set(authorization: string, value: T, now: EpochMs): void
}

interface Entry<T> extends OffHeapText {
  readonly length: number
  readonly value: T
}

/**
 * Returns the key of an entry: the last 12 characters of the signature, at least 68 bits, so two cached tokens practically
 * never have the same key. V8 copies a slice of 12 characters. A slice of 13 or more would be a view that keeps the
 * whole text on the heap.
 */
const keyOf = (authorization: string): string => authorization.slice(-12)

/** The approximate size of an entry without its text and its lists, in bytes: session, map slots, buffer object. */
const ENTRY_BYTES = 1280
/** The approximate size of an entry of a session's lists, such as a scope, in bytes. */
const LISTED_BYTES = 96

/** Each time that this many entries were added, up to twice as many expired entries are removed, so that they do not accumulate. */
const SETS_PER_SWEEP = 16

/**
 * Makes the cache, bounded by bytes. An entry is found by the end of its text and compared by all of it, so two
 * tokens are never confused. The texts are stored outside the JavaScript heap, so a heap snapshot shows only their ends, and
 * they are erased when their entry is removed. Entries are removed after their `keptUntil`, a few with every 16 new ones.
 * `listed` returns how many scopes and policy ids a value has, to estimate its size. If the cache is full, the least recently
 * used entry is evicted; use is recorded only once it is half full.
 */
export function createTokenCache<T extends { readonly keptUntil: EpochMs }>(
  bytes: number,
  listed: (value: T) => number,
): TokenCache<T> {
  const pool = createOffHeapPool()
  const dispose = (entry: Entry<T>): void => pool.erase(entry, entry.length)
  const cache = new LRUCache<string, Entry<T>>({ maxSize: bytes, dispose })
  let sets = 0
  const sweep = (now: EpochMs): void => {
    let left = 2 * SETS_PER_SWEEP
    for (const key of cache.rkeys()) {
      const entry = cache.peek(key)
      if (entry === undefined || now < entry.value.keptUntil || left-- === 0) return
      cache.delete(key)
    }
  }
  return {
    get(authorization) {
      const key = keyOf(authorization)
      // Recording the use of an entry costs as much as finding it, and matters only when entries may be evicted.
      const halfEmpty = cache.calculatedSize * 2 < bytes
      const entry = halfEmpty ? cache.peek(key) : cache.get(key)
      if (entry === undefined) return undefined
      const { start, length } = entry
      if (length !== authorization.length) return undefined
      const text = readAscii(entry.bytes, start, start + length)
      return text === authorization ? entry.value : undefined
    },
    delete(authorization) {
      if (this.get(authorization) !== undefined) cache.delete(keyOf(authorization))
    },
    set(authorization, value, now) {
      if (++sets % SETS_PER_SWEEP === 0) sweep(now)
      const { length } = authorization
      const { bytes: block, start } = pool.store(authorization)
      const entry = { bytes: block, start, length, value }
      const size = Math.max(length, SLOT_BYTES) + ENTRY_BYTES + listed(value) * LISTED_BYTES
      cache.set(keyOf(authorization), entry, { size })
    },
  }
}
