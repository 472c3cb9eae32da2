import type { FeedEntry } from '@gatewright/kernel'

/** Reads the revocation feed that the issuer writes. The writer decides the order of the entries. */
export interface RevocationFeed {
  /**
   * Returns up to `limit` entries after a position, oldest first. Position 0 is before the first entry. If the result has
   * `limit` entries, there may be more. Faults: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`.
   */
  after(position: number, limit: number): Promise<readonly FeedEntry[]>

  /**
   * Calls the listener soon after each append, for stores that can notify. A notification may be lost or repeated: it only
   * wakes the reader, which reads by position. The returned function ends the subscription.
   */
  subscribe?(listener: () => void): Promise<() => Promise<void>>
}
