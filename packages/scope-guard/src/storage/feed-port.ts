import type { FeedEntry } from '@gatewright/kernel'

/**
 * Reads the revocation feed that the issuer writes. The feed has lanes; the writer decides the lane of an entry and the order of the
 * entries of a lane.
 */
export interface RevocationFeed {
  /**
   * Returns of each lane up to `limit` entries after its position, oldest first; the order of the lanes does not matter. `positions` has
   * one position for each of the `FEED_LANES` lanes; `FEED_START` is before the first entries. If the result has fewer than `limit`
   * entries, it reached the end of every lane; otherwise there may be more. Faults: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`.
   */
  after(positions: readonly number[], limit: number): Promise<readonly FeedEntry[]>

  /**
   * Calls the listener soon after each append, for stores that can notify. A notification may be lost or repeated: it only
   * wakes the reader, which reads by its positions. The returned function ends the subscription.
   */
  subscribe?(listener: () => void): Promise<() => Promise<void>>
}
