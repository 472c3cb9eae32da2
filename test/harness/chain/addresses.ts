/**
 * An address with one letter in the other case: a wrong checksum (EIP-55), since letters of both cases are left. An
 * address of one case has none.
 */
export function mistyped(address: string): string {
  const upper = address.match(/[A-F]/g) ?? []
  return upper.length > 1
    ? address.replace(/[A-F]/, letter => letter.toLowerCase())
    : address.replace(/[a-f]/, letter => letter.toUpperCase())
}
