/** The form of an amount of an asset: a decimal text of at most 18 digits before and 18 after the point. */
export const DECIMAL = '^(?:0|[1-9]\\d{0,17})(?:\\.\\d{1,18})?$'

const DIGITS = 18
/** One whole unit of an asset, as `parseDecimal` returns it. */
export const ONE: bigint = 10n ** BigInt(DIGITS)

/** Reads a decimal text, which must match `DECIMAL`, as an integer of 10^-18. */
export function parseDecimal(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(DIGITS, '0'))
}

/** Writes an integer of 10^-18 as a decimal text without trailing zeros. */
export function formatDecimal(value: bigint): string {
  const digits = value.toString().padStart(DIGITS + 1, '0')
  const fraction = digits.slice(-DIGITS).replace(/0+$/, '')
  return digits.slice(0, -DIGITS) + (fraction === '' ? '' : `.${fraction}`)
}

/** Writes US cents as dollars with two digits after the point. */
export function formatDollars(cents: number): string {
  return (cents / 100).toFixed(2)
}
