import { randomBytes } from 'node:crypto'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** `length` random base62 characters, 5.95 bits each. Bytes of 248 and above are thrown away: 62 x 4 = 248. */
export function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += ALPHABET[byte % 62]
    }
  }
  return text
}

/** An unsigned 32-bit number as 6 base62 digits. */
export function base62Of32Bits(number: number): string {
  let text = ''
  for (let rest = number, n = 0; n < 6; n++, rest = Math.floor(rest / 62)) text = ALPHABET[rest % 62] + text
  return text
}
