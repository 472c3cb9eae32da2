import { crc32 } from 'node:zlib'
import type { Surface } from '@gatewright/kernel'
import { base62Of32Bits, randomBase62 } from './random.ts'

/** Which world a key belongs to. A key of one environment is refused in the other. */
export type Environment = 'live' | 'sandbox'

/** What every key of one issuer begins with, before its id. */
export interface KeyTextFormat {
  /** The first part of every key text, for secret scanners: 2 to 12 of a-z and 0-9, a letter first. */
  readonly keyPrefix: string
  readonly environment: Environment
}

const ID_LENGTH = 16
const SECRET_LENGTH = 30
const CHECKSUM_LENGTH = 6
const TAIL = /^[0-9A-Za-z]{16}_[0-9A-Za-z]{36}$/

/** The part of a key text that is safe to show: environment, surface and id. */
export function keyDisplay({ keyPrefix, environment }: KeyTextFormat, surface: Surface, id: string): string {
  return `${keyPrefix}_${environment}_${surface}_${id}`
}

/**
 * Writes a new key: `gw_<live|sandbox>_<user|partner>_<16 base62 id>_<30 base62 secret><6 base62 CRC-32>`.
 * The id has 95 random bits, the secret 178. The checksum covers everything before it.
 */
export function newKeyText(format: KeyTextFormat, surface: Surface): { id: string; text: string } {
  const id = randomBase62(ID_LENGTH)
  const body = `${keyDisplay(format, surface, id)}_${randomBase62(SECRET_LENGTH)}`
  return { id, text: body + base62Of32Bits(crc32(body)) }
}

/**
 * The id in a key text, or undefined for anything that cannot be a key of this environment and surface:
 * wrong type, shape, environment, surface or checksum. No secret is looked at and no store is asked.
 */
export function readKeyId(format: KeyTextFormat, surface: Surface, text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined
  const head = keyDisplay(format, surface, '')
  if (text.length !== head.length + ID_LENGTH + 1 + SECRET_LENGTH + CHECKSUM_LENGTH) return undefined
  if (!text.startsWith(head)) return undefined
  const tail = text.slice(head.length)
  if (!TAIL.test(tail)) return undefined
  if (base62Of32Bits(crc32(text.slice(0, -CHECKSUM_LENGTH))) !== text.slice(-CHECKSUM_LENGTH))
    return undefined
  return tail.slice(0, ID_LENGTH)
}

/** A regular expression that finds keys of every environment and surface in text, for secret scanners. */
export function keyPattern(keyPrefix = 'gw'): RegExp {
  return new RegExp(
    `\\b${checkedKeyPrefix(keyPrefix)}_(?:live|sandbox)_(?:user|partner)_[0-9A-Za-z]{16}_[0-9A-Za-z]{36}\\b`,
    'g',
  )
}

/** Checks a key prefix. Throws a `TypeError` outside 2 to 12 of a-z and 0-9, a letter first. */
export function checkedKeyPrefix(keyPrefix: string): string {
  if (typeof keyPrefix !== 'string' || !/^[a-z][a-z0-9]{1,11}$/.test(keyPrefix)) {
    throw new TypeError('keyPrefix must be 2 to 12 of a-z and 0-9, starting with a letter')
  }
  return keyPrefix
}
