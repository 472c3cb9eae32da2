import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { EpochMs } from '@gatewright/kernel'

/** What the cache needs to know of what it holds. */
interface Held {
  /** From here on the token is verified anew. */
  readonly until: EpochMs
}

/** The identity of a credential: SHA-256 of the whole field, scheme included. Hex, which Node makes fastest. */
export function credentialDigest(authorization: string): string {
  return hash('sha256', authorization)
}

/** Verified tokens of one process by `credentialDigest`. An entry may vanish at any time; nothing depends on it. */
export interface TokenCache<T extends Held> {
  get(digest: string, now: EpochMs): T | undefined
  /** `length` is the credential's, for the bound by bytes. */
  set(digest: string, length: number, value: T): void
}

/** Given each time: without, the library makes an empty one. */
const PEEK = {}

/** A rough size of one entry beside its token text, in bytes: session, scope set, map slots. */
const ENTRY_BYTES = 1024

/**
 * Keyed by digest of the whole credential: no part of it (two tokens could share one) and no raw token in memory.
 * Bounded by entries and by bytes; the least recently used goes first, of those used since it was half full.
 */
export function tokenCache<T extends Held>(entries: number, bytes: number): TokenCache<T> {
  const cache = new LRUCache<string, T>({ max: entries, maxSize: bytes })
  return {
    get(digest, now) {
      // The order of use matters only once something may have to go; keeping it costs as much as finding the entry.
      const roomy = cache.size * 2 < entries && cache.calculatedSize * 2 < bytes
      const held = roomy ? cache.peek(digest, PEEK) : cache.get(digest)
      return held && now < held.until ? held : undefined
    },
    set(digest, length, value) {
      cache.set(digest, value, { size: length + ENTRY_BYTES })
    },
  }
}
