// Loaded only when a test wallet is used, because elliptic curves weigh more than the rest of the sign-in.
import { secp256k1 } from '@noble/curves/secp256k1'
import { keccak_256 } from '@noble/hashes/sha3'

const hex = (bytes: Uint8Array): string => [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('')
const bytesOf = (text: string): Uint8Array =>
  Uint8Array.from(text.match(/../g) ?? [], pair => Number.parseInt(pair, 16))

/** Makes a random private key, in hexadecimal digits. */
export const newPrivateKey = (): string => hex(secp256k1.utils.randomPrivateKey())

/** Returns the address of a private key, with the checksum of EIP-55 in its letters. */
export function addressOf(privateKey: string): string {
  const publicKey = secp256k1.getPublicKey(privateKey, false).slice(1)
  const digits = hex(keccak_256(publicKey).slice(-20))
  const checksum = hex(keccak_256(new TextEncoder().encode(digits)))
  const letters = [...digits].map((digit, place) =>
    Number.parseInt(checksum.charAt(place), 16) >= 8 ? digit.toUpperCase() : digit,
  )
  return `0x${letters.join('')}`
}

/** Signs a message as `personal_sign` does (EIP-191). `message`: hexadecimal digits after `0x`. */
export function signMessage(privateKey: string, message: string): string {
  const bytes = bytesOf(message.slice(2))
  const prefix = new TextEncoder().encode(`\u0019Ethereum Signed Message:\n${bytes.length}`)
  const signature = secp256k1.sign(keccak_256(Uint8Array.from([...prefix, ...bytes])), privateKey)
  return `0x${signature.toCompactHex()}${(27 + signature.recovery).toString(16)}`
}
