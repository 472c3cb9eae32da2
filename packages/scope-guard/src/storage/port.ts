import type { EpochMs } from '@gatewright/kernel'

/** One counter that a reservation adds to. Names are any text and differ within one reservation. */
export interface SpendItem {
  readonly counter: string
  /** `cents` can settle at less than was held; `count` is all or nothing. */
  readonly unit: 'cents' | 'count'
  /** The counter may stand at this number and not above it. A safe integer of at least 0. */
  readonly cap: number
  /** What is added. A safe integer of at least 0. */
  readonly amount: number
  /** From this instant on nobody asks for the counter any more; null: it counts for ever. */
  readonly expiresAt: EpochMs | null
}

/** How a reservation ended. `used` is settled plus held, after it (`held`) or without it (`over`). */
export type Reserved =
  | { readonly outcome: 'held'; readonly used: readonly number[] }
  | { readonly outcome: 'over'; readonly index: number; readonly used: number }
  | { readonly outcome: 'conflict' }

/** How a settlement ended. `gone`: no such hold, so it was settled or released before. */
export type Settled = 'settled' | 'gone' | 'exceeds'

/**
 * Spend counters. For every counter settled + held stays at or below the cap that each reservation was made
 * with, under any parallelism on any number of hosts. All counters of an account live together; there is no
 * reservation across accounts. Faults of every verb: `ERR_STORE_UNAVAILABLE` and `ERR_STORE_REPLY`, after which
 * it is unknown whether the step took effect, and `ERR_STORE_FULL`, after which it did not.
 */
export interface SpendStorage {
  /**
   * Adds every amount to its counter, or none when one would pass its cap: `over` names the first such item.
   * Of simultaneous reservations those pass that fit, in some order. A hold counts until it is settled or
   * released; it never lapses, also when its owner crashed. The same `holdId` again, while it is held, answers
   * `held` and adds nothing, so a reservation of unknown outcome can be repeated; with other amounts it is a
   * `conflict`. With `holdId` null the amounts count as settled at once.
   */
  reserve(
    accountId: string,
    holdId: string | null,
    items: readonly SpendItem[],
    now: EpochMs,
  ): Promise<Reserved>

  /**
   * Ends a hold: its `cents` counters keep `actualCents` of it, its `count` counters keep it whole. More than
   * was held is refused as `exceeds`, and the hold stands. Of simultaneous calls of `settle` and `release` for
   * one hold, one takes effect; the others find it `gone`.
   */
  settle(accountId: string, holdId: string, actualCents: number): Promise<Settled>

  /** Ends a hold and gives everything back. False: it is gone. */
  release(accountId: string, holdId: string): Promise<boolean>

  /** How much of each counter is used now, settled and held together; 0 for one that never counted. Changes nothing. */
  used(accountId: string, counters: readonly string[]): Promise<readonly number[]>

  /**
   * Deletes up to `limit` counters that ended at least `GRACE_MS` before `now`, and says how many. Holds are
   * never collected. Stores with a native time to live have nothing to do and answer 0.
   */
  collect(limit: number, now: EpochMs): Promise<number>
}
