/** An ECDSA signature in the only form that recovery accepts. */
export interface EcdsaSignature {
  /** 64 bytes: r, then s, with s in the lower half of the order. */
  readonly compact: Uint8Array
  /** The parity of y, which selects one of the two points with this r. */
  readonly yParity: 0 | 1
}

/** Maximum length of a raw signature, in bytes. ERC-1271 and ERC-6492 signatures are of any length; this bounds the work. */
const MAX_SIGNATURE_BYTES = 16_384

/** The value of each ASCII character as a hex digit of either case; 16 for all others. */
const NIBBLES = Uint8Array.from({ length: 128 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16)
  return Number.isNaN(value) ? 16 : value
})

/** The value of the hex digit at an index of a text; 16 or more when there is no digit. */
export function hexDigitAt(text: string, at: number): number {
  return NIBBLES[text.charCodeAt(at)] ?? 16
}

/**
 * Parses `0x` and hex digits into bytes; undefined for odd digits, other characters, or more than
 * `MAX_SIGNATURE_BYTES`.
 */
export function parseHex(text: unknown): Uint8Array | undefined {
  if (typeof text !== 'string' || text.length > 2 + 2 * MAX_SIGNATURE_BYTES) return undefined
  if (text.length % 2 !== 0 || !text.startsWith('0x')) return undefined
  const bytes = Buffer.allocUnsafe(text.length / 2 - 1)
  for (let index = 0; index < bytes.length; index++) {
    const [high, low] = [hexDigitAt(text, 2 * index + 2), hexDigitAt(text, 2 * index + 3)]
    if (high > 15 || low > 15) return undefined
    bytes[index] = high * 16 + low
  }
  return bytes
}

/** The order of the curve's group, and half of it: the largest low s. */
const ORDER = Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex')
const HALF_ORDER = Buffer.from('7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0', 'hex')

/**
 * Whether the 32 bytes at `at` are a number from 1 to `most`, or below `most`. Plain loops, because every proof runs
 * this.
 */
function isBetween(bytes: Uint8Array, at: number, most: Uint8Array, mayEqual: boolean): boolean {
  let index = 0
  while (index < 32 && bytes[at + index] === 0) index++
  if (index === 32) return false
  for (index = 0; index < 32; index++) {
    const [own, limit] = [bytes[at + index] as number, most[index] as number]
    if (own !== limit) return own < limit
  }
  return mayEqual
}

/**
 * Reads 65 bytes (r, s, v with v 27, 28, 0 or 1) or the 64 bytes of EIP-2098 (y parity in the top bit of s). Undefined for any
 * other length or v, for r or s outside 1 to order - 1, and for a high s: it belongs to a second valid signature of the same
 * text (EIP-2), and a signature must have one form only.
 */
export function readEcdsa(bytes: Uint8Array): EcdsaSignature | undefined {
  let compact: Uint8Array
  let v: number
  if (bytes.length === 65) {
    compact = bytes.subarray(0, 64)
    v = bytes[64] as number
  } else if (bytes.length === 64) {
    compact = Uint8Array.from(bytes)
    const top = bytes[32] as number
    compact[32] = top & 0x7f
    v = top >> 7
  } else return undefined
  const yParity = v >= 27 ? v - 27 : v
  if (yParity !== 0 && yParity !== 1) return undefined
  if (!isBetween(compact, 0, ORDER, false) || !isBetween(compact, 32, HALF_ORDER, true)) return undefined
  return { compact, yParity }
}

/**
 * Lists the ECDSA signatures that bytes of any length may begin with, in any form: low or high s, with or without the parity of
 * EIP-2098 in s, any v, any bytes after it. Each has a low s and must be tried with both parities. The result has zero, one or
 * two.
 */
export function leadingSignatures(bytes: Uint8Array): readonly Uint8Array[] {
  if (bytes.length < 64 || !isBetween(bytes, 0, ORDER, false)) return []
  const asSent = Uint8Array.from(bytes.subarray(0, 64))
  const top = asSent[32] as number
  if (top < 0x80) return [asSent].flatMap(withLowS)
  const withoutParity = Uint8Array.from(asSent)
  withoutParity[32] = top & 0x7f
  return [asSent, withoutParity].flatMap(withLowS)
}

/** Returns the same r with s or order - s, whichever is lower; nothing for an s out of range. */
function withLowS(compact: Uint8Array): Uint8Array[] {
  if (!isBetween(compact, 32, ORDER, false)) return []
  if (isBetween(compact, 32, HALF_ORDER, true)) return [compact]
  const s = BigInt(`0x${Buffer.from(compact.subarray(32)).toString('hex')}`)
  const mirrored = (BigInt(`0x${ORDER.toString('hex')}`) - s).toString(16).padStart(64, '0')
  compact.set(Buffer.from(mirrored, 'hex'), 32)
  return [compact]
}
