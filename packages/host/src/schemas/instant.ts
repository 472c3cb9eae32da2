import type { EpochMs } from '@gatewright/kernel/internal'

/** The JSON Schema format of instants. */
export const INSTANT_FORMAT = 'date-time'

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/**
 * Parses an instant (RFC 3339), or returns undefined. An offset or `Z` is required: without it, the instant would depend on the time
 * zone of this machine.
 */
export function parseInstant(text: string): EpochMs | undefined {
  const at = INSTANT.test(text) && isDay(text.slice(0, 10)) ? Date.parse(text) : NaN
  return Number.isNaN(at) ? undefined : at
}

/** Whether a date exists: `Date` would read February 31 as March 3. */
function isDay(date: string): boolean {
  const at = Date.parse(`${date}T00:00:00Z`)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(date)
}
