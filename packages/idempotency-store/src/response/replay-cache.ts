import type { EpochMs } from '@gatewright/kernel'

/** The encoded response of a key. */
export interface CachedResponse {
  readonly fingerprint: string
  readonly text: string
  readonly expiresAt: EpochMs
}

/** Responses that this process has replayed. */
export interface ReplayCache {
  /** Returns the response of a key. Undefined from its `expiresAt` on, and if it is not cached. */
  find(key: string, now: EpochMs): CachedResponse | undefined
  add(key: string, response: CachedResponse): void
}

/** The approximate size of an entry without its key and text, in bytes. */
const ENTRY_BYTES = 200

/**
 * Makes a cache of the latest replayed responses, of at most `maxBytes`. A stored response never changes before it
 * expires, so a cached one is what the store would return. The cache has two generations of half the size each: a full
 * young generation replaces the old one. Evicting single entries would have to find the oldest one on each call.
 */
export function createReplayCache(maxBytes: number): ReplayCache {
  let [young, old] = [new Map<string, CachedResponse>(), new Map<string, CachedResponse>()]
  let bytes = 0
  return {
    find(key, now) {
      const response = young.get(key) ?? old.get(key)
      return response && now < response.expiresAt ? response : undefined
    },
    add(key, response) {
      const size = key.length + response.text.length + ENTRY_BYTES
      if (2 * size > maxBytes) return
      if (2 * (bytes + size) > maxBytes) {
        old = young
        young = new Map()
        bytes = 0
      }
      young.set(key, response)
      bytes += size
    },
  }
}
