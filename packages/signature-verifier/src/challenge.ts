import { randomInt } from 'node:crypto'
import type { Clock, EpochMs, OptionNames } from '@gatewright/kernel'
import type { ChallengeStorage } from './storage/port.ts'

/** Server-issued nonces: which templates need one, and for how long it is good. */
export interface ChallengeOptions {
  /** Names of templates whose nonce must be one that `issueChallenge` gave out. */
  readonly templates: readonly string[]
  /** Life of a challenge in ms, 10 000 to 3 600 000. Default 600 000. */
  readonly ttlMs?: number
}

/** Their names. */
export const CHALLENGE_OPTIONS: OptionNames<ChallengeOptions> = {
  templates: true,
  ttlMs: true,
}

/** A nonce that this host will accept once. */
export interface Challenge {
  /** 22 letters and digits, 130 bits: a nonce of every template, EIP-4361 included. */
  readonly nonce: string
  /** The challenge is good while `now < expiresAt`. */
  readonly expiresAt: EpochMs
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
const LENGTH = 22

/** A challenge's key: bound to a lower-case address, or to none. */
const keyOf = (address: string | undefined, nonce: string): string => `${address ?? ''}\n${nonce}`

/**
 * Gives out a nonce, for one address or, before the wallet is known, for any. Faults: those of `ChallengeStorage`,
 * and `ERR_STORE_FULL` when too many are out.
 */
export async function issueChallenge(
  storage: ChallengeStorage,
  clock: Clock,
  ttlMs: number,
  address: string | undefined,
): Promise<Challenge> {
  const nonce = Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  const now = clock.now()
  const expiresAt = now + ttlMs
  await storage.issue(keyOf(address, nonce), expiresAt, now)
  return { nonce, expiresAt }
}

/** Uses up the challenge with this nonce, the address's own or one for any; false when there is none. */
export async function consumeChallenge(
  storage: ChallengeStorage,
  address: string,
  nonce: string,
  now: EpochMs,
): Promise<boolean> {
  return (
    (await storage.consume(keyOf(address, nonce), now)) ||
    (await storage.consume(keyOf(undefined, nonce), now))
  )
}
