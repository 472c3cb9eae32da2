import { hexToBytes, keccak256, recoverPublicKey } from 'viem/utils'
import type { EcdsaSignature } from './signature.ts'

/**
 * Recovers the public key that made a signature: 65 bytes, uncompressed, from a 32-byte hash and the 64-byte
 * compact signature (r and s in range, s low: checked before). Undefined when no key fits. Pluggable, because this
 * one step is nearly all of the cost of a proof: `pickRecover` finds faster ones.
 */
export type Recover = (
  hash: Uint8Array,
  compact: Uint8Array,
  yParity: 0 | 1,
) => Uint8Array | undefined | Promise<Uint8Array | undefined>

/** The default: pure JS, through viem. About 1.4 ms of CPU per call. */
export const recoverWithViem: Recover = async (hash, compact, yParity) => {
  const signature = new Uint8Array(65)
  signature.set(compact)
  signature[64] = yParity
  try {
    return hexToBytes(await recoverPublicKey({ hash, signature }))
  } catch {
    // The hash has 32 bytes and r and s are in range, so the only error left is "no such point".
    return undefined
  }
}

/** Keccak-256 (not SHA3-256) of some bytes: 32 bytes. Pluggable like `Recover`. */
export type Keccak256 = (bytes: Uint8Array) => Uint8Array

/** The default: pure JS, through viem. */
export const keccakWithViem: Keccak256 = bytes => keccak256(bytes, 'bytes')

/** The EIP-191 `personal_sign` hash of a text. */
export function personalHash(keccak256: Keccak256, text: string): Uint8Array {
  return keccak256(Buffer.from(`\u0019Ethereum Signed Message:\n${Buffer.byteLength(text)}${text}`, 'utf8'))
}

/**
 * The lower-case address whose key made the signature, or undefined when there is none. Without a promise where
 * `recover` gives none.
 */
export function recoverAddress(
  { recover, keccak256 }: { readonly recover: Recover; readonly keccak256: Keccak256 },
  hash: Uint8Array,
  { compact, yParity }: EcdsaSignature,
): string | undefined | Promise<string | undefined> {
  const recovered = recover(hash, compact, yParity)
  if (recovered === undefined || recovered instanceof Uint8Array) return addressOf(keccak256, recovered)
  return recovered.then(publicKey => addressOf(keccak256, publicKey))
}

function addressOf(keccak256: Keccak256, publicKey: Uint8Array | undefined): string | undefined {
  if (publicKey === undefined) return undefined
  if (publicKey.length !== 65 || publicKey[0] !== 4) {
    throw new TypeError(`recover must give 65 bytes that start with 4, not ${publicKey.length} bytes`)
  }
  const { buffer, byteOffset } = keccak256(publicKey.subarray(1))
  return `0x${Buffer.from(buffer, byteOffset + 12, 20).toString('hex')}`
}
