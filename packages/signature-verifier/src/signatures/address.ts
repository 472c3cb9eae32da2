import { keccak256 } from 'js-sha3'

const ADDRESS = /^0x[0-9a-fA-F]{40}$/

/** Whether a text is `0x` and 40 hex digits, in any case. */
export function isAddress(text: string): boolean {
  return ADDRESS.test(text)
}

/** Whether a text is an address with a valid EIP-55 checksum in the case of its letters. Digits carry no checksum. */
export function isChecksumAddress(text: string): boolean {
  if (!isAddress(text)) return false
  const digits = text.slice(2)
  const hash = keccak256(digits.toLowerCase())
  // A letter is upper-case where the digit of the hash at its position is 8 or more.
  return [...digits].every((digit, index) => {
    const letter = (hash[index] as string) >= '8' ? digit.toUpperCase() : digit.toLowerCase()
    return digit === letter
  })
}
