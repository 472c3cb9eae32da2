import { UsageError } from '@gatewright/host/cli'
import { money } from '@gatewright/host/internal'

/**
 * Reads US dollars with two decimals, such as 12.50, and returns cents, 1 to `most`. A number without decimals is refused, because it
 * could be meant as cents. Throws a `UsageError` that names the argument.
 */
export function dollarsArgument(name: string, text: string, most: number): number {
  const [, dollars, cents] = /^(0|[1-9]\d{0,11})\.(\d\d)$/.exec(text) ?? []
  const value = dollars === undefined ? 0 : Number(dollars) * 100 + Number(cents)
  if (value >= 1 && value <= most) return value
  throw new UsageError(
    `${name} must be US dollars with two decimals such as 50.00, at most ${money(most)}, got ${JSON.stringify(text)}${dollarsMeant(text, most)}`,
  )
}

/** Suggests what another spelling of US dollars means, such as `: did you mean 50.00?` for `$50`. */
function dollarsMeant(text: string, most: number): string {
  const [, whole = '', decimals = ''] =
    /^(?:USD)? ?\$?(\d{1,3}(?:,\d{3})+|\d{1,12})(?:[.,](\d{0,2}))? ?(?:\$|USD)?$/i.exec(text.trim()) ?? []
  const dollars = whole.replaceAll(',', '').replace(/^0+(?=\d)/, '')
  const cents = Number(`${dollars}${decimals.padEnd(2, '0')}`)
  if (dollars === '' || cents < 1 || cents > most) return ''
  return `: did you mean ${dollars}.${decimals.padEnd(2, '0')}?`
}

/** Whether a value is a reference by which an operator documents an action: 1 to 120 visible ASCII characters. */
export const isReference = (value: unknown): value is string =>
  typeof value === 'string' && /^[\x21-\x7e]{1,120}$/.test(value)

/**
 * Reads the reference by which an operator documents an action, such as the number of a ticket. Accounts can see it. Throws a
 * `UsageError`.
 */
export function referenceArgument(text: string): string {
  if (isReference(text)) return text
  throw new UsageError('REFERENCE must be 1 to 120 visible ASCII characters, such as a ticket')
}
