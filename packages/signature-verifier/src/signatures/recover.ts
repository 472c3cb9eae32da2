import { keccak256 } from 'js-sha3'
import { hexDigitAt, type EcdsaSignature } from './ecdsa.ts'

/**
 * Recovers the public key that made a signature: 65 bytes, uncompressed, from a 32-byte hash and the 64-byte compact
 * signature (r and s already checked to be in range, s low). Undefined when no key fits. It can be replaced, because it
 * is nearly all of the cost of a proof: `fastestRecover` finds faster ones.
 */
export type Recover = (
  hash: Uint8Array,
  compact: Uint8Array,
  yParity: 0 | 1,
) => Uint8Array | undefined | Promise<Uint8Array | undefined>

let loading: Promise<typeof import('@noble/curves/secp256k1')> | undefined

/**
 * The default recovery: pure JS through @noble/curves, which viem recovers with too. The first call loads it, in a fifth of the
 * time of `viem/utils`. About 1.3 ms of CPU per call.
 */
export const recoverWithJs: Recover = async (hash, compact, yParity) => {
  loading ??= import('@noble/curves/secp256k1')
  const { secp256k1 } = await loading
  try {
    const signature = secp256k1.Signature.fromCompact(compact).addRecoveryBit(yParity)
    return signature.recoverPublicKey(hash).toRawBytes(false)
  } catch {
    // The hash has 32 bytes and r and s are in range, so the only error left is "no such point".
    return undefined
  }
}

/** Computes Keccak-256 (not SHA3-256): 32 bytes. It can be replaced like `Recover`. */
export type Keccak256 = (bytes: Uint8Array) => Uint8Array

/**
 * The default hash: pure JS through js-sha3, in a quarter of the time that viem's takes. A request with a wrong checksum
 * costs one hash and nothing else, so its speed counts.
 */
export const keccakWithJsSha3: Keccak256 = bytes => new Uint8Array(keccak256.array(bytes))

/** Computes the EIP-191 `personal_sign` hash of a text. */
export function personalHash(keccak256: Keccak256, text: string): Uint8Array {
  return keccak256(Buffer.from(`\u0019Ethereum Signed Message:\n${Buffer.byteLength(text)}${text}`, 'utf8'))
}

/** Whether the key of a lower-case address made the signature. Returns a promise only if `recover` does. */
export function isSignedBy(
  address: string,
  { recover, keccak256 }: { readonly recover: Recover; readonly keccak256: Keccak256 },
  hash: Uint8Array,
  { compact, yParity }: EcdsaSignature,
): boolean | Promise<boolean> {
  const recovered = recover(hash, compact, yParity)
  if (recovered === undefined || recovered instanceof Uint8Array)
    return hasAddress(address, keccak256, recovered)
  return recovered.then(publicKey => hasAddress(address, keccak256, publicKey))
}

function hasAddress(address: string, keccak256: Keccak256, publicKey: Uint8Array | undefined): boolean {
  if (publicKey === undefined) return false
  if (publicKey.length !== 65 || publicKey[0] !== 4) {
    throw new TypeError(`recover must return 65 bytes that start with 4, got ${publicKey.length} bytes`)
  }
  const digest = keccak256(publicKey.subarray(1))
  // Digit by digit: a view of a small array, or its hex text, would cost more than the hash.
  for (let index = 0; index < 20; index++) {
    const byte = digest[index + 12] as number
    if (
      hexDigitAt(address, 2 * index + 2) !== byte >> 4 ||
      hexDigitAt(address, 2 * index + 3) !== (byte & 15)
    )
      return false
  }
  return true
}
