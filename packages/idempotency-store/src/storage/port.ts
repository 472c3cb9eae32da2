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

/** Why a run cannot start. */
export type NotStarted = Exclude<BeginResult, { readonly state: 'started' }>

/** How a run ends. */
export type Ending =
  /** It took effect. The response is stored while `now < expiresAt`; then the key is new again. */
  | {
      readonly state: 'done'
      readonly response: string
      readonly expiresAt: EpochMs
      /** Who decided that a lost run took effect, and why. Kept with the record until it is deleted, through later runs too. */
      readonly decision?: string
    }
  /** Nothing happened: the key may be started again immediately, with any fingerprint. */
  | { readonly state: 'free'; readonly expiresAt: EpochMs; readonly decision?: string }
  /** The outcome is unknown: the lease ends now. */
  | { readonly state: 'lost' }

/** Whose run it is. Kept with the record, to attribute a lost run; it decides nothing. */
export interface RunLabel {
  /** Up to 512 UTF-16 code units of storable text, as `isStorableText` of kernel says. */
  readonly operation: string
  /** As `operation`. */
  readonly account: string
}

/** The record of a key without its response. */
export interface RunRecord extends RunLabel {
  readonly key: string
  readonly fingerprint: string
  readonly fence: number
  /** When the latest run began. */
  readonly beganAt: EpochMs
  readonly state: 'running' | 'done' | 'free'
  /** While running, the end of the lease; 0 if the run was ended as lost. Otherwise the end of the retention. */
  readonly until: EpochMs
  /** The latest decision about a lost run of the key; null if there was none. */
  readonly decision: string | null
}

/** Which lost runs are listed. */
export interface LostRunPage {
  readonly limit: number
  readonly now: EpochMs
  /** Only runs whose label has this account. */
  readonly account?: string | undefined
  /** Only runs after this one, in the order of the list. */
  readonly after?: Pick<RunRecord, 'beganAt' | 'key'> | undefined
}

/**
 * Stores the records of idempotent writes. A fingerprint is 1 to 64 letters (case-sensitive), digits, `-` and `_`. A key is the same,
 * and then, mostly, a dot and the account of the record: again as many of these characters. This package passes SHA-256 in base64url
 * before the dot, which identifies the account too, so that an adapter may use the account to place the record or ignore it. A response is any well-formed text without NUL, and may have control
 * characters and line breaks. Faults of every method: `ERR_STORE_UNAVAILABLE` and `ERR_STORE_REPLY` (the step may have taken
 * effect; every method can be repeated safely), `ERR_STORE_FULL` (it has not).
 */
export interface IdempotencyStorage {
  /**
   * Starts a run, or returns why the run cannot start. Of simultaneous calls for one key, on any number of hosts, exactly one
   * gets `started`. A run is running while `now < leaseUntil`. From `leaseUntil` on it is lost, and stays so until `end`: time
   * alone never makes a lost key new. A response is replayed while `now < expiresAt`; from `expiresAt` on the key can be
   * started again. The fence is `now`, or one more than the key's last fence if that is larger. So it also grows after a record
   * was deleted. Without a label, its texts are empty.
   */
  begin(
    key: string,
    fingerprint: string,
    leaseUntil: EpochMs,
    now: EpochMs,
    label?: RunLabel,
  ): Promise<BeginResult>

  /**
   * Makes the lease of the run with this fence end at `leaseUntil`, if that is later. True while the run is running, so also
   * for a repeated call. False, and nothing is changed, from the end of its lease on, if it has ended, and if the key has a newer
   * run.
   */
  extend(key: string, fence: number, leaseUntil: EpochMs, now: EpochMs): Promise<boolean>

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

  /**
   * Takes a lost run over, to decide about it: it is running until `leaseUntil`, with a new fence as of a begin, and everything
   * else of the record stays. Returns that fence. Undefined, and nothing is changed, unless the run with this fence is lost at
   * `now`. Of simultaneous calls for one run exactly one gets a fence, and none after `end` has ended the run: the first of a
   * decision, a recovery and a late owner wins.
   */
  takeOver(key: string, fence: number, leaseUntil: EpochMs, now: EpochMs): Promise<number | undefined>

  /**
   * Lists the runs that are lost at `page.now`, up to `page.limit`: the first that began first, and those of one instant by key in the order
   * of its bytes. A run that is lost before the first page is read and until the last one is listed exactly once.
   */
  listLost(page: LostRunPage): Promise<readonly RunRecord[]>

  /** Returns the record of a key; undefined if the key has no record. */
  find(key: string): Promise<RunRecord | undefined>
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
