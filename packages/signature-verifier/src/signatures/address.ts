import { keccak256 } from 'js-sha3'

const ADDRESS = /^0x[0-9a-fA-F]{40}$/

/** Whether a text is `0x` and 40 hex digits, in any case. */
export function isAddress(text: string): boolean {
  return ADDRESS.test(text)
}

/** Returns an address with its EIP-55 checksum. It does not check the form of the text. */
export function toChecksumAddress(address: string): string {
  const digits = address.slice(2).toLowerCase()
  const hash = keccak256(digits)
  // A letter is upper-case where the digit of the hash at its position is 8 or more.
  const cased = [...digits].map((digit, index) =>
    (hash[index] as string) >= '8' ? digit.toUpperCase() : digit,
  )
  return `0x${cased.join('')}`
}

/** Whether a text is an address with a valid EIP-55 checksum in the case of its letters. Decimal digits contain no checksum. */
export function isChecksumAddress(text: string): boolean {
  return isAddress(text) && toChecksumAddress(text) === text
}
