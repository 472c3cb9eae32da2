import type { EpochMs } from './clock.ts'

const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/

/** In a leap year. */
const DAYS_IN_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)

/** The `count` digits at `from`, as a number. */
function digits(text: string, from: number, count: number): number {
  let value = 0
  for (let at = from; at < from + count; at++) value = value * 10 + text.charCodeAt(at) - 48
  return value
}

/** Returns the fraction of a second in ms, cut and not rounded; 0 without a fraction. */
function milliseconds(text: string, zoneLength: number): number {
  if (text[19] !== '.') return 0
  const length = text.length - 20 - zoneLength
  return digits(text, 20, Math.min(length, 3)) * 10 ** Math.max(3 - length, 0)
}

/**
 * Parses an instant: a date-time of RFC 3339, in full. `T` and `Z` in either case, any offset, any number of digits of a fraction (cut
 * to ms), and only days that the month has. A leap second is the first instant after it, and exists only at the end of a month of UTC.
 * Undefined for anything else, and for a text without a zone, which would depend on the zone of this machine.
 */
export function parseInstant(text: unknown): EpochMs | undefined {
  if (typeof text !== 'string' || !DATE_TIME.test(text)) return undefined
  const [year, month, day] = [digits(text, 0, 4), digits(text, 5, 2), digits(text, 8, 2)]
  const [hour, minute, second] = [digits(text, 11, 2), digits(text, 14, 2), digits(text, 17, 2)]
  const days = month === 2 && !isLeap(year) ? 28 : (DAYS_IN_MONTH[month - 1] ?? 0)
  // A month above 12, or 0, has no days.
  if (day < 1 || day > days || hour > 23 || minute > 59 || second > 60) return undefined
  const zoneLength = /[Zz]$/.test(text) ? 1 : 6
  const isLeapSecond = second === 60
  const [seconds, fraction] = isLeapSecond ? [59, 1000] : [second, milliseconds(text, zoneLength)]
  let at = Date.UTC(year, month - 1, day, hour, minute, seconds)
  // Date.UTC reads the years 0 to 99 as 1900 to 1999.
  if (year < 100) at = new Date(at).setUTCFullYear(year, month - 1, day)
  at += fraction
  if (zoneLength === 6) {
    const [zoneHours, zoneMinutes] = [digits(text, text.length - 5, 2), digits(text, text.length - 2, 2)]
    if (zoneHours > 23 || zoneMinutes > 59) return undefined
    const offsetMs = (zoneHours * 60 + zoneMinutes) * 60_000
    at += text.at(-6) === '-' ? offsetMs : -offsetMs
  }
  return isLeapSecond && !startsMonth(at) ? undefined : at
}

function startsMonth(at: EpochMs): boolean {
  return at % 86_400_000 === 0 && new Date(at).getUTCDate() === 1
}
