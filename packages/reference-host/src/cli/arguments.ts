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
