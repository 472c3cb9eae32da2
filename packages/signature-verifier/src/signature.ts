/** An ECDSA signature in the one form that recovery accepts. */
export interface EcdsaSignature {
  /** 64 bytes: r, then s, with s in the lower half of the order. */
  readonly compact: Uint8Array
  /** Which of the two points with that r: the parity of its y. */
  readonly yParity: 0 | 1
}

/** Longest raw signature, in bytes. ERC-1271 and ERC-6492 signatures are of any length; this bounds the work. */
export const MAX_SIGNATURE_BYTES = 16_384

const HEX = /^0x(?:[0-9a-fA-F]{2})*$/

/** The bytes of a `0x` hex text of whole bytes; undefined when malformed or over `MAX_SIGNATURE_BYTES`. */
export function parseHex(text: string): Uint8Array | undefined {
  if (text.length > 2 + 2 * MAX_SIGNATURE_BYTES || !HEX.test(text)) return undefined
  return Buffer.from(text.slice(2), 'hex')
}

const ORDER = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'
const HALF_ORDER = '7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0'
const [order, halfOrder] = [Buffer.from(ORDER, 'hex'), Buffer.from(HALF_ORDER, 'hex')]
const zero = Buffer.alloc(32)

/**
 * Reads 65 bytes (r, s, v with v 27, 28, 0 or 1) or the 64 bytes of EIP-2098 (y parity in the top bit of s).
 * Undefined for any other length or v, for r or s outside 1 .. order-1, and for a high s: it is the mirror image of
 * another signature of the same text (EIP-2), and a signature must have one form.
 */
export function readEcdsa(bytes: Uint8Array): EcdsaSignature | undefined {
  if (bytes.length !== 64 && bytes.length !== 65) return undefined
  const compact = Buffer.from(bytes.subarray(0, 64))
  const top = compact[32] as number
  let v = bytes[64]
  if (v === undefined) {
    v = top >> 7
    compact[32] = top & 0x7f
  }
  const yParity = v >= 27 ? v - 27 : v
  if (yParity !== 0 && yParity !== 1) return undefined
  const [r, s] = [compact.subarray(0, 32), compact.subarray(32)]
  if (r.equals(zero) || s.equals(zero) || r.compare(order) >= 0 || s.compare(halfOrder) > 0) return undefined
  return { compact, yParity }
}
