import type { EpochMs } from '@gatewright/kernel'

/**
 * Replay memory: remembers which nonces were used. It never forgets a live one; a store that cannot take
 * another throws `ERR_STORE_FULL` instead of evicting.
 */
export interface NonceStorage {
  /**
   * Claims a key until `expiresAt`. Of any number of simultaneous claims of one key, on any number of hosts,
   * exactly one resolves true. A key is live while `now < expiresAt`; at `expiresAt` it can be claimed again.
   * `key` is any text of up to 64 KiB, hostile bytes included; the caller makes sure that `now < expiresAt`.
   * Faults: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY` (the claim may have taken effect: treat the nonce as
   * spent and ask for a new statement) and `ERR_STORE_FULL` (it has not).
   */
  claim(key: string, expiresAt: EpochMs, now: EpochMs): Promise<boolean>

  /**
   * Deletes up to `limit` keys, challenges included, that ended at least `GRACE_MS` before `now`, and says how many. Safe to call
   * from every host at once. Stores with a native time to live have nothing to do and answer 0.
   */
  collect(limit: number, now: EpochMs): Promise<number>
}

/**
 * Replay memory that also keeps challenges: nonces which the server hands out, good for one use. Optional: only
 * templates that ask for a challenge need it. Issued challenges have room of their own, so that a stranger who asks
 * for many can never keep a wallet's own nonce out.
 */
export interface ChallengeStorage extends NonceStorage {
  /**
   * Keeps a challenge until `expiresAt`. False when the key is issued and not consumed already, whether or not it has
   * ended: keys are random, so that is a caller's mistake. `key` as in `claim`; the caller makes sure that
   * `now < expiresAt`. Faults: as `claim`.
   */
  issue(key: string, expiresAt: EpochMs, now: EpochMs): Promise<boolean>

  /**
   * Uses a challenge up. Of any number of simultaneous calls with one key, on any number of hosts, exactly one
   * resolves true, and only if the key was issued, was not consumed and has not ended: it is good while
   * `now < expiresAt`. Faults: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY` (it may be used up).
   */
  consume(key: string, now: EpochMs): Promise<boolean>
}
