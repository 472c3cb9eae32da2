import { parseInstant } from '@gatewright/kernel/internal'
import type { EpochMs } from '@gatewright/kernel'
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

/** Reads an instant (RFC 3339). Throws a `UsageError`. */
export function instantArgument(name: string, text: string): EpochMs {
  const at = parseInstant(text)
  if (at !== undefined) return at
  throw new UsageError(
    `${name} must be an instant (RFC 3339) with Z or an offset, such as 2026-01-31T12:00:00Z, got ${JSON.stringify(text)}`,
  )
}
