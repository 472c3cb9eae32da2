import { randomInt } from 'node:crypto'
import { checkOptions } from '@gatewright/kernel/internal'
import type { Clock, EpochMs } from '@gatewright/kernel'
import type { ChallengeStorage, NonceStorage } from './storage/port.ts'
import type { Template } from './templates/template.ts'

/** Options of nonces that the server issues. */
export interface ChallengeOptions {
  /** Names of the templates that accept only nonces from `issueChallenge`. */
  readonly templates: readonly string[]
  /** How long a challenge is valid, in ms, 10 000 to 3 600 000, default 600 000. */
  readonly ttlMs?: number
}

/** The checked options and the storage of challenges. */
interface CheckedChallenges {
  readonly storage: ChallengeStorage
  readonly templates: ReadonlySet<string>
  readonly ttlMs: number
}

/** Checks the option `challenges`. Throws a `TypeError`. */
export function checkedChallenges(
  options: ChallengeOptions,
  nonces: NonceStorage,
  known: readonly Template[],
): CheckedChallenges {
  const { templates, ttlMs } = checkOptions('createVerifier challenges', options, {
    templates: true,
    ttlMs: { min: 10_000, max: 3_600_000, default: 600_000 },
  })
  const storage = nonces as ChallengeStorage
  if (typeof storage.issue !== 'function' || typeof storage.consume !== 'function') {
    throw new TypeError('nonces must be a ChallengeStorage (issue and consume) when challenges is given')
  }
  const unknown = templates.find(name => !known.some(template => template.name === name))
  if (unknown !== undefined)
    throw new TypeError(`challenges.templates must name templates of this verifier, got "${unknown}"`)
  return { storage, templates: new Set(templates), ttlMs }
}

/** A nonce that this host accepts once. */
export interface Challenge {
  /** 22 letters and digits with 130 random bits. Every template accepts such a nonce, EIP-4361 included. */
  readonly nonce: string
  /** The challenge is valid while `now < expiresAt`. */
  readonly expiresAt: EpochMs
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
const LENGTH = 22

/** The storage key of a challenge, which binds it to a lower-case address or to no address. */
const keyOf = (address: string | undefined, nonce: string): string => `${address ?? ''}\n${nonce}`

/**
 * Issues a nonce, for one address or for whichever address uses it first. Faults: those of `ChallengeStorage`; `ERR_STORE_FULL`
 * if too many challenges are open.
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

/** Consumes the challenge with this nonce, issued for the address or for any. False if no such challenge is stored. */
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
