import type { MemoryFeed } from '@gatewright/kernel'
import type { RevocationFeed } from './feed-port.ts'

/** Makes a reader of the feed of this process, with notifications. */
export function memoryRevocationFeed(feed: MemoryFeed): RevocationFeed {
  return {
    after: async (positions, limit) => feed.after(positions, limit),
    subscribe: async listener => {
      const end = feed.subscribe(listener)
      return async () => end()
    },
  }
}
