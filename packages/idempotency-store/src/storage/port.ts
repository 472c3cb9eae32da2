import type { EpochMs } from '@gatewright/kernel'

/** What a store says to a caller that wants to run a write. */
export type Begun =
  /** The caller runs it. `fence` is larger than every earlier fence of this key. */
  | { readonly state: 'started'; readonly fence: number }
  /** Someone else runs it and their lease is live. */
  | { readonly state: 'running' }
  /** Someone ran it and never said how it ended: the effect may or may not have happened. */
  | { readonly state: 'lost'; readonly fence: number }
  /** It is done; `answer` is the text that `end` was given. */
  | { readonly state: 'done'; readonly answer: string; readonly expiresAt: EpochMs }
  /** The key is held by a run with another fingerprint. */
  | { readonly state: 'reused' }

/** How a run ends. */
export type Ending =
  /** It took effect; the answer is kept while `now < expiresAt`, then the key is new again. */
  | { readonly state: 'done'; readonly answer: string; readonly expiresAt: EpochMs }
  /** Nothing happened: the key may be started again at once, with any fingerprint. */
  | { readonly state: 'free'; readonly expiresAt: EpochMs }
  /** Nobody knows: the lease ends now. */
  | { readonly state: 'lost' }

/**
 * The record of idempotent writes. A key and a fingerprint are 1 to 64 letters, digits, `-` and `_`, told apart by
 * their case; those of this package are SHA-256 in base64url. An answer is any well-formed text without NUL, control
 * characters and line ends included. Faults of every verb: `ERR_STORE_UNAVAILABLE` and
 * `ERR_STORE_REPLY` (the step may have taken effect; each verb is safe to repeat), `ERR_STORE_FULL` (it has not).
 */
export interface IdempotencyStorage {
  /**
   * Starts a run, or says why not. Of any number of simultaneous begins of one key, on any number of hosts,
   * exactly one is told `started`. A run is live while `now < leaseUntil`; at `leaseUntil` it is `lost` and
   * stays so until `end`: time alone never makes a lost key new. An answer is replayed while
   * `now < expiresAt`; at `expiresAt` the key can be started again. The fence is `now`, or one more than the
   * key's last fence where that is larger, so it also grows over a record that was deleted.
   */
  begin(key: string, fingerprint: string, leaseUntil: EpochMs, now: EpochMs): Promise<Begun>

  /**
   * Ends the run that holds `fence`. True when this call, or an earlier one with the same fence, ending and
   * answer, ended it. False when the run has another end or the key has moved on: the caller is late, and
   * nothing is changed; of several different answers the first stays.
   * A run whose lease is over may still be ended as long as nobody else has decided about it.
   */
  end(key: string, fence: number, ending: Ending, now: EpochMs): Promise<boolean>

  /**
   * Deletes up to `limit` done or free records that expired at least `GRACE_MS` before `now`, and says how
   * many. Running and lost records are never deleted. Stores with a native time to live answer 0.
   */
  collect(limit: number, now: EpochMs): Promise<number>
}

/** The record in an open transaction. */
export interface TransactionStorage extends IdempotencyStorage {
  /**
   * `end` as the last statement of the transaction, which the commit may travel with: when it is true, the
   * transaction may be committed, and the caller commits it where it is not. False asks for a rollback, and until
   * that nothing is committed. Faults: also those of a commit, whose effect is then unknown. Absent where there is
   * nothing to gain: call `end`.
   */
  endLast?(key: string, fence: number, ending: Ending, now: EpochMs): Promise<boolean>
}
