import { checkOptions } from '@gatewright/kernel/internal'

/** Options of the adapters of `SpendStorage` and `ApprovalStorage` in memory. */
export interface MemoryOptions {
  /** How many counters and holds, or approvals, it stores at most, at least 1, default 100 000. */
  readonly capacity?: number
}

/** Options of the Redis and SQL adapters of `SpendStorage` and `ApprovalStorage`. */
export interface StorageOptions {
  /** Prefix of every key (Redis, default `gw:spend:` and `gw:approvals:`) or table (SQL, as given to `migrate`, default `gw_`). */
  readonly prefix?: string
}

/** Options of the Redis and SQL readers of the revocation feed. */
export interface FeedOptions {
  /** Prefix of the issuer's keys (Redis, default `gw:`) or tables (SQL, default `gw_`). */
  readonly prefix?: string
  /**
   * Subscribes a listener to a channel, so that new entries are read immediately, and resolves with the function that ends the
   * subscription. In these examples, `subscriber` is a connection that is used for nothing else. With node-redis:
   * `async (channel, listener) => { await subscriber.subscribe(channel, listener); return () => subscriber.unsubscribe(channel) }`.
   * With pg:
   * `async (channel, listener) => { subscriber.on('notification', listener); await subscriber.query('listen ' + channel); return () => subscriber.end() }`.
   */
  readonly subscribe?: (channel: string, listener: () => void) => Promise<() => Promise<unknown>>
}

/** Checks the options of a reader. Throws a `TypeError` for a wrong one. */
export function checkedFeedOptions(where: string, options: FeedOptions): FeedOptions {
  return checkOptions(where, options, { prefix: true, subscribe: { is: 'function', default: undefined } })
}
