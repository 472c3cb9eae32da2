import { randomFillSync } from 'node:crypto'

/** The digits of base62, in the order of their values. */
export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * Random bytes generated in advance, each used once: one call of the generator costs more than an id (`npm run bench --
 * session-issuer`, mint).
 */
const pool = Buffer.alloc(2048)
let next = pool.length

function randomByte(): number {
  if (next === pool.length) {
    randomFillSync(pool)
    next = 0
  }
  const byte = pool[next] as number
  pool[next++] = 0
  return byte
}

/** Generates `length` random base62 characters, 5.95 bits each. Bytes of 248 and above are skipped: 62 x 4 = 248. */
export function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    const byte = randomByte()
    if (byte < 248) text += BASE62[byte % 62]
  }
  return text
}
