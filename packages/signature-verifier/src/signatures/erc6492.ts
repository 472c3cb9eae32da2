/** A signature without its ERC-6492 wrapper, if it had one. */
export interface UnwrappedSignature {
  /** The signature that the wallet itself checks. Never wrapped again. */
  readonly signature: Uint8Array
  /** How to deploy a wallet that does not exist yet: the factory, in lower case, and the call data for it. */
  readonly deployment?: { readonly factory: string; readonly data: Uint8Array }
}

const MAGIC = Buffer.from('6492'.repeat(16), 'hex')

/** Compares the last byte first: it decides for nearly every signature without a wrapper. */
function isWrapped(bytes: Uint8Array): boolean {
  return bytes.at(-1) === 0x92 && MAGIC.equals(bytes.subarray(-32))
}

/**
 * Removes an ERC-6492 wrapper, so that every later step sees the same signature whether it was wrapped or not.
 * Undefined for a wrapper that is not the ABI encoding of `(address, bytes, bytes)`, and for one inside another:
 * ERC-6492 has one level. Parsed by hand, because this runs before every limit and viem's decoder takes 4 ms for 16
 * KiB.
 */
export function unwrapSignature(signature: Uint8Array): UnwrappedSignature | undefined {
  if (!isWrapped(signature)) return { signature }
  const encoded = Buffer.from(signature.buffer, signature.byteOffset, signature.length - 32)
  const [data, inner] = [readBytes(encoded, 32), readBytes(encoded, 64)]
  if (!data || !inner || isWrapped(inner) || !isZero(encoded, 0, 12)) return undefined
  return { signature: inner, deployment: { factory: `0x${encoded.toString('hex', 12, 32)}`, data } }
}

/** Reads the bytes whose offset is in the word at `head`; undefined if they exceed the input. */
function readBytes(encoded: Buffer, head: number): Uint8Array | undefined {
  const offset = readLength(encoded, head)
  const length = readLength(encoded, offset)
  return offset + 32 + length <= encoded.length
    ? encoded.subarray(offset + 32, offset + 32 + length)
    : undefined
}

/** Reads the length or offset in the word at `at`; infinite if the word is missing or its number too large. */
function readLength(encoded: Buffer, at: number): number {
  return at + 32 <= encoded.length && isZero(encoded, at, at + 28) ? encoded.readUInt32BE(at + 28) : Infinity
}

function isZero(encoded: Buffer, from: number, to: number): boolean {
  for (let index = from; index < to; index++) if (encoded[index] !== 0) return false
  return true
}
