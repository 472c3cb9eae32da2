import { checkOptions } from '@gatewright/kernel/internal'

/** Options of the Redis and SQL adapters of `SpendStorage`. */
export interface StorageOptions {
  /** Prefix of every key (Redis, default `gw:spend:`) or table (SQL, as given to `migrate`, default `gw_`). */
  readonly prefix?: string
}

/** How a host takes parts of caps in advance, so that many hosts can reserve under one cap at the same time. */
export interface EscrowOptions {
  /**
   * Caps of at least this number are divided into slices: US cents of a cap on money, calls of a `maxCount`. Lower caps are counted
   * as without the option. 1 to 1 000 000 000 000, default
   * 1 000 000.
   */
  readonly leastCap?: number
  /** How much of what remains under a cap a host takes beyond what it needs now, in percent, 1 to 50, default 5. */
  readonly sharePercent?: number
  /**
   * How long a slice stays with a host after its last reservation, 1 to 3600 s, default 10. After that, another host that needs it takes
   * it. It ends with its window at the latest.
   */
  readonly leaseSeconds?: number
}

/** Options of `postgresSpends`. */
export interface PostgresSpendsOptions extends StorageOptions {
  /**
   * Lets this process take a part of a large cap in advance, its slice, and reserve from it without a lock that other hosts wait for.
   * No cap is exceeded. A reservation may be denied although the slices of other hosts would suffice for it. Only for a database of its
   * own connections, not for a transaction. Default: no slices.
   */
  readonly escrow?: EscrowOptions
}

/** Options of `escrow`, with their defaults. */
export type CheckedEscrow = Required<EscrowOptions>

/** Checks the options of `escrow`. Throws a `TypeError` for a wrong one. */
export function checkedEscrow(where: string, options: EscrowOptions): CheckedEscrow {
  return checkOptions(where, options, {
    leastCap: { min: 1, max: 1_000_000_000_000, default: 1_000_000 },
    sharePercent: { min: 1, max: 50, default: 5 },
    leaseSeconds: { min: 1, max: 3600, default: 10 },
  })
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
