import { parseInstant } from '@gatewright/kernel/internal'
import type { EpochMs } from '@gatewright/kernel'
import { money } from '../schemas/us-dollars.ts'
import { UsageError } from './command.ts'

/**
 * Reads an argument or option that must be an integer in plain decimal digits. Throws a `UsageError` that names it: `Number` would
 * read an empty text as 0.
 */
export function integerArgument(name: string, text: string, least: number, most?: number): number {
  const value = /^(?:0|[1-9]\d{0,14})$/.test(text) ? Number(text) : -1
  if (value >= least && (most === undefined || value <= most)) return value
  const range = most === undefined ? `of at least ${least}` : `from ${least} to ${most}`
  throw new UsageError(`${name} must be an integer ${range}, got ${JSON.stringify(text)}`)
}

/**
 * Reads US dollars with two decimals, such as 12.50, and returns cents, 1 to `most`. A number without decimals is refused, because it
 * could be meant as cents. Throws a `UsageError` that names the argument.
 */
export function dollarsArgument(name: string, text: string, most: number): number {
  const [, dollars, cents] = /^(0|[1-9]\d{0,11})\.(\d\d)$/.exec(text) ?? []
  const value = dollars === undefined ? 0 : Number(dollars) * 100 + Number(cents)
  if (value >= 1 && value <= most) return value
  throw new UsageError(
    `${name} must be US dollars with two decimals such as 50.00, at most ${money(most)}, got ${JSON.stringify(text)}`,
  )
}

/** Reads an instant (RFC 3339). Throws a `UsageError`. */
export function instantArgument(name: string, text: string): EpochMs {
  const at = parseInstant(text)
  if (at !== undefined) return at
  throw new UsageError(
    `${name} must be an instant (RFC 3339) with Z or an offset, such as 2026-01-31T12:00:00Z, got ${JSON.stringify(text)}`,
  )
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
