import { LRUCache } from 'lru-cache'
import type { EpochMs } from '@gatewright/kernel'
import { keptTexts, SLOT_BYTES, type Place } from './texts.ts'

/** What the cache needs to know of what it holds. */
interface Held {
  /** From here on the token is verified anew. */
  readonly until: EpochMs
  /** From here on nothing of it is kept. */
  readonly keptUntil: EpochMs
}

/** Verified tokens of one process by the whole `Authorization` field. An entry may vanish; nothing depends on it. */
export interface TokenCache<T extends Held> {
  /** What was set for exactly this text. Its time may be over: then the token is one that was verified before. */
  get(authorization: string): T | undefined
  delete(authorization: string): void
  /** The text must be ASCII. */
  set(authorization: string, value: T, now: EpochMs): void
}

interface Entry<T> extends Place {
  readonly length: number
  readonly value: T
}

/**
 * The end of a token is the end of its signature: 12 characters are at least 68 bits that hardly two tokens share.
 * A slice of 13 would not be a copy but a view that keeps the whole text on the heap.
 */
const handleOf = (authorization: string): string => authorization.slice(-12)

/** Given each time: without, the library makes an empty one. */
const PEEK = {}

/** A rough size of one entry beside its text, in bytes: session, scope set, map slots, a buffer's own. */
const ENTRY_BYTES = 1280

/** After so many new entries, up to twice as many leave whose time is over: they do not pile up. */
const SETS_PER_SWEEP = 16

/**
 * Found by the end of the text, decided by all of it: no two texts are ever taken for each other. The texts lie
 * outside the JavaScript heap, so that a heap snapshot shows their ends only, and are wiped when they leave. An entry
 * that is kept no longer leaves as new ones come, several at a time.
 * Bounded by entries and by bytes; the least recently used goes first, of those used since it was half full.
 */
export function tokenCache<T extends Held>(entries: number, bytes: number): TokenCache<T> {
  const texts = keptTexts()
  const dispose = (entry: Entry<T>): void => texts.wipe(entry, entry.length)
  const cache = new LRUCache<string, Entry<T>>({ max: entries, maxSize: bytes, dispose })
  let sets = 0
  const sweep = (now: EpochMs): void => {
    let left = 2 * SETS_PER_SWEEP
    for (const handle of cache.rkeys()) {
      const held = cache.peek(handle, PEEK)
      if (held === undefined || now < held.value.keptUntil || left-- === 0) return
      cache.delete(handle)
    }
  }
  return {
    get(authorization) {
      const handle = handleOf(authorization)
      // The order of use matters only once something may have to go; keeping it costs as much as finding the entry.
      const roomy = cache.size * 2 < entries && cache.calculatedSize * 2 < bytes
      const held = roomy ? cache.peek(handle, PEEK) : cache.get(handle)
      if (held === undefined) return undefined
      const { start, length } = held
      if (length !== authorization.length) return undefined
      const text = held.bytes.toString('latin1', start, start + length)
      return text === authorization ? held.value : undefined
    },
    delete(authorization) {
      if (this.get(authorization) !== undefined) cache.delete(handleOf(authorization))
    },
    set(authorization, value, now) {
      if (++sets % SETS_PER_SWEEP === 0) sweep(now)
      const { length } = authorization
      const { bytes: at, start } = texts.keep(authorization)
      const entry = { bytes: at, start, length, value }
      cache.set(handleOf(authorization), entry, { size: Math.max(length, SLOT_BYTES) + ENTRY_BYTES })
    },
  }
}
