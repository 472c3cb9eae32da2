import type { OptionNames } from '@gatewright/kernel'

/** Options of the Redis and SQL adapters of `SpendStorage`. */
export interface StorageOptions {
  /** Prefix of every key (Redis, default `gw:spend:`) or table (SQL, as given to `migrate`, default `gw_`). */
  readonly prefix?: string
}

/** The names of the options. */
export const STORAGE_OPTIONS: OptionNames<StorageOptions> = { prefix: true }

/** Options of the Redis and SQL readers of the revocation feed. */
export interface FeedOptions {
  /** Prefix of the issuer's keys (Redis, default `{gw}:`) or tables (SQL, default `gw_`). */
  readonly prefix?: string
  /**
   * Subscribes a listener to a channel, so that new entries are read immediately. It needs a connection of its own. With
   * node-redis: `async (channel, listener) => { await own.subscribe(channel, listener); return () => own.unsubscribe(channel) }`.
   * With pg: `async (channel, listener) => { own.on('notification', listener); await own.query('listen ' + channel); ... }`.
   */
  readonly subscribe?: (channel: string, listener: () => void) => Promise<() => Promise<unknown>>
}

/** The names of the options. */
export const FEED_OPTIONS: OptionNames<FeedOptions> = { prefix: true, subscribe: true }
