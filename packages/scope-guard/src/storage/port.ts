import type { EpochMs } from '@gatewright/kernel'

/**
 * The buckets of a counter with a rolling window. Buckets are periods of equal length, with consecutive numbers of at least 0; each has an
 * amount of its own.
 */
export interface Buckets {
  /** The oldest bucket that counts. */
  readonly oldest: number
  /** The bucket that an amount is added to. */
  readonly current: number
  /** The newest bucket that counts: one after `current`, because the clock of another host may be ahead. */
  readonly newest: number
}

/** A counter: its name, or the name of one that rolls with the buckets that count. */
export type Counter = string | { readonly counter: string; readonly buckets: Buckets }

/** How much of one bucket is used, settled and held together. */
export interface BucketUsage {
  readonly bucket: number
  readonly used: number
}

/** One counter that a reservation adds to. `counter` is any text, different for each item of the reservation. */
export interface SpendItem {
  readonly counter: string
  /** A `cents` counter can be settled at less than was held; a `count` counter keeps all of it or nothing. */
  readonly unit: 'cents' | 'count'
  /** The counter may reach this number and not exceed it. A safe integer of at least 0. */
  readonly cap: number
  /** The amount to add. A safe integer of at least 0. */
  readonly amount: number
  /** From this instant on the counter, or its bucket `current`, is not read. Null: the counter never expires. */
  readonly expiresAt: EpochMs | null
  /**
   * Of a counter of a calendar window: the name that it has in every window. An item of the same series in another window is the same
   * item when a reservation is repeated.
   */
  readonly series?: string
  /**
   * Of a counter that rolls: the amount is added to the bucket `current`, and all from `oldest` to `newest` together count against the
   * cap. What a hold gives back is taken from the bucket that it was added to.
   */
  readonly buckets?: Buckets
}

/** The usage of one counter. */
export interface CounterUsage {
  /** Settled and held together. */
  readonly used: number
  /** The part of `used` that belongs to holds which have not ended. */
  readonly held: number
  /** Of a counter that rolls: what its buckets have, oldest first. A bucket that was never used may be missing. */
  readonly buckets?: readonly BucketUsage[]
}

/**
 * The outcome of a reservation. `used` is settled plus held: after the reservation (`held`), or of the counter that would
 * exceed its cap (`over`, with `buckets` as in `CounterUsage`). `conflict`: the hold id is in use for other amounts or counters.
 */
export type ReserveOutcome =
  | { readonly outcome: 'held'; readonly used: readonly number[] }
  | {
      readonly outcome: 'over'
      readonly index: number
      readonly used: number
      readonly buckets?: readonly BucketUsage[]
    }
  | { readonly outcome: 'conflict' }

/** The outcome of a settlement. `gone`: there is no such hold, because it was settled or released before. */
export type SettleOutcome = 'settled' | 'gone' | 'exceeds'

/**
 * Stores spend counters. For every counter, settled plus held amounts stay at or below the cap that each reservation was
 * made with, under any parallelism on any number of hosts. All counters of an account are stored together; no reservation
 * spans accounts. Faults of every function: `ERR_STORE_UNAVAILABLE` and `ERR_STORE_REPLY`, after which it is unknown
 * whether the step took effect; `ERR_STORE_FULL`, after which it did not.
 */
export interface SpendStorage {
  /**
   * Adds every amount to its counter, or adds none if one counter would exceed its cap: `over` names the first such item.
   * Simultaneous reservations are decided one after another, in any order. A hold counts until it is settled or released; it
   * never expires, also when its owner crashed. If a hold with this `holdId` and the same amounts exists, the outcome is `held`
   * and nothing is added, so a reservation of unknown outcome can be repeated, also when another bucket is
   * `current` or another window has begun: the hold counts where it was made. If it has other amounts, the outcome is `conflict`. With `holdId` null the amounts count as settled immediately.
   */
  reserve(
    accountId: string,
    holdId: string | null,
    items: readonly SpendItem[],
    now: EpochMs,
  ): Promise<ReserveOutcome>

  /**
   * Ends a hold: its `cents` counters keep `actualCents` of it (`null`: all), its `count` counters keep all of it. If `actualCents` is
   * more than was held, the outcome is `exceeds` and the hold remains. Of simultaneous calls of `settle` and `release` for
   * one hold, one takes effect; the others find the hold `gone`.
   */
  settle(accountId: string, holdId: string, actualCents: number | null): Promise<SettleOutcome>

  /** Ends a hold and releases its whole amount. False: the hold is gone. */
  release(accountId: string, holdId: string): Promise<boolean>

  /** Returns, for each counter, how much of it is used; 0 for a counter that was never used. Changes nothing. */
  usage(accountId: string, counters: readonly Counter[]): Promise<readonly CounterUsage[]>

  /**
   * Deletes up to `limit` counters and buckets that expired at least `GRACE_MS` before `now`, and returns how many. Holds are never
   * deleted. Stores that expire keys themselves do nothing and return 0.
   */
  collect(limit: number, now: EpochMs): Promise<number>
}
