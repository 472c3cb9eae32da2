import type { FeedEntry } from '@gatewright/kernel'

/** Reads the revocation feed that the issuer writes. It only reads; order is the writer's business. */
export interface RevocationFeed {
  /**
   * Up to `limit` entries after a position, oldest first; position 0 is before the first. A full answer may have
   * more behind it. Faults: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`.
   */
  after(position: number, limit: number): Promise<readonly FeedEntry[]>

  /**
   * Calls back soon after each append, where the store can. A call may be lost or repeated: it only wakes the
   * reader, which reads by position. The answer ends the subscription.
   */
  subscribe?(listener: () => void): Promise<() => Promise<void>>
}
