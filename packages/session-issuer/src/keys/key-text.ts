import type { Surface } from '@gatewright/kernel/internal'
import { BASE62, randomBase62 } from '../random.ts'
import { routeOf } from '../route.ts'

/** The environment of a key. A key of one environment is denied in the other. */
export type Environment = 'live' | 'sandbox'

/** Generates and parses the key texts of one issuer. */
export interface KeyTexts {
  /** Returns the part of a key text that is safe to show: prefix, environment, surface and id. */
  display(surface: Surface, id: string): string
  /** Generates a new key text. The id begins with the route of the account and has 83 random bits; the secret has 178. */
  generate(surface: Surface, accountId: string): { id: string; text: string }
  /**
   * Reads the id in a key text; undefined for anything that cannot be a key of this environment and surface: wrong
   * type, format, environment, surface or checksum. It compares no secret and reads no store.
   */
  readId(surface: Surface, text: unknown): string | undefined
}

const ID_LENGTH = 16
const SECRET_LENGTH = 30
const CHECKSUM_LENGTH = 6
const TAIL_LENGTH = ID_LENGTH + 1 + SECRET_LENGTH + CHECKSUM_LENGTH

/** The value of each ASCII character as a base62 digit, or -1. */
const DIGITS = Int8Array.from({ length: 128 }, (_, code) => BASE62.indexOf(String.fromCharCode(code)))

/** The table of CRC-32 as in zlib and in GitHub's tokens (polynomial 0xEDB88320, reflected). */
const CRC = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1
  return crc
})

/**
 * Continues a CRC over part of an ASCII text. It uses a table and not `zlib.crc32`, which would need a copy of the part
 * (`npm run bench -- session-issuer`, junk).
 */
function crcOver(text: string, from: number, to: number, start: number): number {
  let crc = start
  for (let at = from; at < to; at++) crc = (CRC[(crc ^ text.charCodeAt(at)) & 255] as number) ^ (crc >>> 8)
  return crc
}

/** Formats an unsigned 32-bit number as 6 base62 digits. */
function checksum(crc: number): string {
  let text = ''
  for (let rest = ~crc >>> 0, n = 0; n < CHECKSUM_LENGTH; n++, rest = Math.floor(rest / 62)) {
    text = (BASE62[rest % 62] as string) + text
  }
  return text
}

/** Parses base62 digits; -1 if a character is not a digit. */
function valueOf(text: string, from: number, to: number): number {
  let value = 0
  for (let at = from; at < to; at++) {
    const digit = DIGITS[text.charCodeAt(at)] ?? -1
    if (digit < 0) return -1
    value = value * 62 + digit
  }
  return value
}

/**
 * Makes the key texts of the form `gw_<live|sandbox>_<user|partner>_<16 base62 id>_<30 base62 secret><6 base62
 * CRC-32>`. The checksum covers everything before it. Throws a `TypeError` for a wrong prefix.
 */
export function createKeyTexts(keyPrefix: string, environment: Environment): KeyTexts {
  const makeHead = (surface: Surface): { text: string; crc: number } => {
    const text = `${checkedKeyPrefix(keyPrefix)}_${environment}_${surface}_`
    return { text, crc: crcOver(text, 0, text.length, -1) }
  }
  const heads = { user: makeHead('user'), partner: makeHead('partner') }
  return {
    display: (surface, id) => heads[surface].text + id,
    generate(surface, accountId) {
      const route = routeOf(accountId)
      const id = route + randomBase62(ID_LENGTH - route.length)
      const body = `${heads[surface].text}${id}_${randomBase62(SECRET_LENGTH)}`
      return { id, text: body + checksum(crcOver(body, 0, body.length, -1)) }
    },
    readId(surface, text) {
      const { text: start, crc } = heads[surface]
      if (typeof text !== 'string' || text.length !== start.length + TAIL_LENGTH) return undefined
      const idEnd = start.length + ID_LENGTH
      if (!text.startsWith(start) || text[idEnd] !== '_') return undefined
      const end = text.length - CHECKSUM_LENGTH
      const sum = valueOf(text, end, text.length)
      if (sum !== ~crcOver(text, start.length, end, crc) >>> 0) return undefined
      // Checked after the checksum, which denies most wrong texts: few texts with a correct checksum contain other characters.
      if (valueOf(text, start.length, idEnd) < 0 || valueOf(text, idEnd + 1, end) < 0) return undefined
      return text.slice(start.length, idEnd)
    },
  }
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
