import type { EpochMs } from '@gatewright/kernel'

/**
 * Replay protection: remembers which nonces were used. It never forgets a live key; a store that has no space for
 * another throws `ERR_STORE_FULL` instead of evicting one.
 */
export interface NonceStorage {
  /**
   * Claims a key until `expiresAt`. Of any number of simultaneous claims of one key, on any number of hosts, exactly
   * one resolves to true. A key is live while `now < expiresAt`; at `expiresAt` it can be claimed again. `key` is any
   * text of up to 64 KiB, with any characters. The caller makes sure that `now < expiresAt`. Faults:
   * `ERR_STORE_UNAVAILABLE` and `ERR_STORE_REPLY` (the claim may have taken effect: treat the nonce as used and ask for
   * a new statement), `ERR_STORE_FULL` (the claim has not taken effect).
   */
  claim(key: string, expiresAt: EpochMs, now: EpochMs): Promise<boolean>

  /**
   * Deletes up to `limit` keys, challenges included, that expired at least `GRACE_MS` before `now`. Resolves to the
   * number deleted. Any number of hosts may call it simultaneously. Stores that expire keys themselves do nothing and resolve
   * to 0.
   */
  collect(limit: number, now: EpochMs): Promise<number>
}

/**
 * Replay protection that also stores challenges: nonces that the server issues, each good for one use. Only verifiers with the
 * option `challenges` need it. Issued challenges have a capacity of their own, so that a client that requests many challenges
 * cannot prevent the claim of another wallet's nonce.
 */
export interface ChallengeStorage extends NonceStorage {
  /**
   * Stores a challenge until `expiresAt`. Resolves to false when the key is issued and not yet consumed, even if it has
   * expired: keys are random, so a repeated key is a mistake of the caller. `key` as in `claim`. The caller makes sure that
   * `now < expiresAt`. Faults: as `claim`.
   */
  issue(key: string, expiresAt: EpochMs, now: EpochMs): Promise<boolean>

  /**
   * Consumes a challenge. Of any number of simultaneous calls with one key, on any number of hosts, exactly one
   * resolves to true, and only if the key was issued, was not consumed and has not expired: it is good while `now <
   * expiresAt`. Faults: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY` (the challenge may be consumed).
   */
  consume(key: string, now: EpochMs): Promise<boolean>
}
