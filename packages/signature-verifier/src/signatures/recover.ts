import { keccak256 } from 'js-sha3'
import { nibble, type EcdsaSignature } from './ecdsa.ts'
import { loadViem } from './viem.ts'

/**
 * Recovers the public key that made a signature: 65 bytes, uncompressed, from a 32-byte hash and the 64-byte
 * compact signature (r and s in range, s low: checked before). Undefined when no key fits. Pluggable, because this
 * one step is nearly all of the cost of a proof: `fastestRecover` finds faster ones.
 */
export type Recover = (
  hash: Uint8Array,
  compact: Uint8Array,
  yParity: 0 | 1,
) => Uint8Array | undefined | Promise<Uint8Array | undefined>

/** The default: pure JS, through viem, which the first call loads. About 1.4 ms of CPU per call. */
export const recoverWithViem: Recover = async (hash, compact, yParity) => {
  const signature = new Uint8Array(65)
  signature.set(compact)
  signature[64] = yParity
  const { hexToBytes, recoverPublicKey } = await loadViem()
  try {
    return hexToBytes(await recoverPublicKey({ hash, signature }))
  } catch {
    // The hash has 32 bytes and r and s are in range, so the only error left is "no such point".
    return undefined
  }
}

/** Keccak-256 (not SHA3-256) of some bytes: 32 bytes. Pluggable like `Recover`. */
export type Keccak256 = (bytes: Uint8Array) => Uint8Array

// Never read. V8 forgets compiled code at a full collection when no object of a shape that it was made for is left.
const kept: { newest?: object } = {}

/** The default: pure JS, through js-sha3. A wrong checksum costs one hash and nothing else, so its speed counts. */
export const keccakWithJsSha3: Keccak256 = bytes => {
  const hasher = keccak256.update(bytes)
  kept.newest = hasher
  return new Uint8Array(hasher.array())
}

/** The EIP-191 `personal_sign` hash of a text. */
export function personalHash(keccak256: Keccak256, text: string): Uint8Array {
  return keccak256(Buffer.from(`\u0019Ethereum Signed Message:\n${Buffer.byteLength(text)}${text}`, 'utf8'))
}

/**
 * Whether the signature was made by the key of a lower-case address. Without a promise where `recover` gives none.
 */
export function isSignedBy(
  address: string,
  { recover, keccak256 }: { readonly recover: Recover; readonly keccak256: Keccak256 },
  hash: Uint8Array,
  { compact, yParity }: EcdsaSignature,
): boolean | Promise<boolean> {
  const recovered = recover(hash, compact, yParity)
  if (recovered === undefined || recovered instanceof Uint8Array)
    return isKeyOf(address, keccak256, recovered)
  return recovered.then(publicKey => isKeyOf(address, keccak256, publicKey))
}

function isKeyOf(address: string, keccak256: Keccak256, publicKey: Uint8Array | undefined): boolean {
  if (publicKey === undefined) return false
  if (publicKey.length !== 65 || publicKey[0] !== 4) {
    throw new TypeError(`recover must give 65 bytes that start with 4, not ${publicKey.length} bytes`)
  }
  const digest = keccak256(publicKey.subarray(1))
  // Digit by digit: a view of a small array, or its text, would cost more than the hash.
  for (let index = 0; index < 20; index++) {
    const byte = digest[index + 12] as number
    if (nibble(address, 2 * index + 2) !== byte >> 4 || nibble(address, 2 * index + 3) !== (byte & 15))
      return false
  }
  return true
}
