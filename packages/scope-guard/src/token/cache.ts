import { LRUCache } from 'lru-cache'
import type { EpochMs } from '@gatewright/kernel'

/** What the cache needs to know of what it holds. */
interface Held {
  /** From here on the token is verified anew. */
  readonly until: EpochMs
}

/** Verified tokens of one process by the whole `Authorization` field. An entry may vanish; nothing depends on it. */
export interface TokenCache<T extends Held> {
  /** What was set for exactly this text, unless its time is over. */
  get(authorization: string, now: EpochMs): T | undefined
  /** The text must be ASCII. */
  set(authorization: string, value: T, now: EpochMs): void
}

interface Entry<T> {
  readonly text: Buffer
  readonly value: T
}

/**
 * The end of a token is the end of its signature: 12 characters are at least 68 bits that hardly two tokens share.
 * A slice of 13 would not be a copy but a view that keeps the whole text on the heap.
 */
const handleOf = (authorization: string): string => authorization.slice(-12)

/** Given each time: without, the library makes an empty one. */
const PEEK = {}

/** A rough size of one entry beside its text, in bytes: session, scope set, map slots, the buffer's own. */
const ENTRY_BYTES = 1280

/** How many entries whose time is over a new one drops: more than one, so that they do not pile up. */
const DROPPED_PER_SET = 2

/**
 * Found by the end of the text, decided by all of it: no two texts are ever taken for each other. The texts lie
 * outside the JavaScript heap, so that a heap snapshot shows their ends only, and are wiped when they leave. An entry
 * whose time is over leaves when it is asked for, or when new ones come.
 * Bounded by entries and by bytes; the least recently used goes first, of those used since it was half full.
 */
export function tokenCache<T extends Held>(entries: number, bytes: number): TokenCache<T> {
  const dispose = ({ text }: Entry<T>): void => void text.fill(0)
  const cache = new LRUCache<string, Entry<T>>({ max: entries, maxSize: bytes, dispose })
  const dropOld = (now: EpochMs): void => {
    for (let dropped = 0; dropped < DROPPED_PER_SET; dropped++) {
      const [oldest] = cache.rkeys()
      const held = oldest === undefined ? undefined : cache.peek(oldest)
      if (oldest === undefined || !held || now < held.value.until) return
      cache.delete(oldest)
    }
  }
  return {
    get(authorization, now) {
      const handle = handleOf(authorization)
      // The order of use matters only once something may have to go; keeping it costs as much as finding the entry.
      const roomy = cache.size * 2 < entries && cache.calculatedSize * 2 < bytes
      const held = roomy ? cache.peek(handle, PEEK) : cache.get(handle)
      if (held === undefined) return undefined
      if (now >= held.value.until) {
        cache.delete(handle)
        return undefined
      }
      return held.text.toString('latin1') === authorization ? held.value : undefined
    },
    set(authorization, value, now) {
      dropOld(now)
      const text = Buffer.allocUnsafeSlow(authorization.length)
      text.write(authorization, 'latin1')
      cache.set(handleOf(authorization), { text, value }, { size: authorization.length + ENTRY_BYTES })
    },
  }
}
