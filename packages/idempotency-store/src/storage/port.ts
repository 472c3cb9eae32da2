import type { EpochMs } from '@gatewright/kernel'

/** The result of a caller's attempt to run a write. */
export type BeginResult =
  /** The caller runs it. `fence` is larger than every earlier fence of this key. */
  | { readonly state: 'started'; readonly fence: number }
  /** Another caller runs it, and its lease has not ended. */
  | { readonly state: 'running' }
  /** Another caller ran it, and its lease ended without an outcome: the effect may or may not have happened. */
  | { readonly state: 'lost'; readonly fence: number }
  /** It is done. `response` is the text that was given to `end`. */
  | { readonly state: 'done'; readonly response: string; readonly expiresAt: EpochMs }
  /** The key belongs to a run with another fingerprint. */
  | { readonly state: 'reused' }

/** How a run ends. */
export type Ending =
  /** It took effect. The response is stored while `now < expiresAt`; then the key is new again. */
  | { readonly state: 'done'; readonly response: string; readonly expiresAt: EpochMs }
  /** Nothing happened: the key may be started again immediately, with any fingerprint. */
  | { readonly state: 'free'; readonly expiresAt: EpochMs }
  /** The outcome is unknown: the lease ends now. */
  | { readonly state: 'lost' }

/**
 * Stores the records of idempotent writes. A key and a fingerprint are 1 to 64 letters (case-sensitive), digits, `-` and
 * `_`; this package passes SHA-256 in base64url. A response is any well-formed text without NUL, and may have control
 * characters and line breaks. Faults of every method: `ERR_STORE_UNAVAILABLE` and `ERR_STORE_REPLY` (the step may have taken
 * effect; every method can be repeated safely), `ERR_STORE_FULL` (it has not).
 */
export interface IdempotencyStorage {
  /**
   * Starts a run, or returns why the run cannot start. Of simultaneous calls for one key, on any number of hosts, exactly one
   * gets `started`. A run is running while `now < leaseUntil`. From `leaseUntil` on it is lost, and stays so until `end`: time
   * alone never makes a lost key new. A response is replayed while `now < expiresAt`; from `expiresAt` on the key can be
   * started again. The fence is `now`, or one more than the key's last fence if that is larger. So it also grows after a record
   * was deleted.
   */
  begin(key: string, fingerprint: string, leaseUntil: EpochMs, now: EpochMs): Promise<BeginResult>

  /**
   * Ends the run that has this fence. True if this call ended it, or an earlier call with the same fence, ending and
   * response. False if the run has another ending or the key has a newer run: then nothing is changed. Of several
   * different responses the first is kept. A run whose lease is over can still be ended until another caller has decided
   * about it.
   */
  end(key: string, fence: number, ending: Ending, now: EpochMs): Promise<boolean>

  /**
   * Deletes up to `limit` records that are done or free and expired at least `GRACE_MS` before `now`. Returns how many.
   * Running and lost records are never deleted. Stores with a native time to live return 0.
   */
  collect(limit: number, now: EpochMs): Promise<number>
}

/** Stores the records of idempotent writes in an open transaction. */
export interface TransactionStorage extends IdempotencyStorage {
  /**
   * Ends a run with the last statement of the transaction, which may be sent together with COMMIT. True: the transaction may be
   * committed, and the caller commits it if that has not happened. False: nothing is committed, and the caller must roll back.
   * Faults also include those of the commit, whose effect is then unknown. Absent if it would save nothing in this store: then
   * call `end`.
   */
  endLast?(key: string, fence: number, ending: Ending, now: EpochMs): Promise<boolean>
}
