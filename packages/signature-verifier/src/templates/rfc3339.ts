import type { EpochMs } from '@gatewright/kernel/internal'

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

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
function milliseconds(text: string): number {
  if (text[19] !== '.') return 0
  const length = text.length - 20 - (text.endsWith('Z') ? 1 : 6)
  return digits(text, 20, Math.min(length, 3)) * 10 ** Math.max(3 - length, 0)
}

/**
 * Parses an RFC 3339 date-time strictly: upper-case `T` and `Z`, always with a zone, a day that the month has, at most
 * nine digits of fraction (cut to ms). Undefined for anything else, leap seconds included, because they have no epoch
 * ms.
 */
export function parseRfc3339(text: unknown): EpochMs | undefined {
  if (typeof text !== 'string' || text.length > 35 || !DATE_TIME.test(text)) return undefined
  const [year, month, day] = [digits(text, 0, 4), digits(text, 5, 2), digits(text, 8, 2)]
  const [hour, minute, second] = [digits(text, 11, 2), digits(text, 14, 2), digits(text, 17, 2)]
  const days = month === 2 && !isLeap(year) ? 28 : (DAYS_IN_MONTH[month - 1] ?? 0)
  // A month above 12, or 0, has no days.
  if (day < 1 || day > days || hour > 23 || minute > 59 || second > 59) return undefined
  let asUtc = Date.UTC(year, month - 1, day, hour, minute, second, milliseconds(text))
  // Date.UTC reads the years 0 to 99 as 1900 to 1999.
  if (year < 100) asUtc = new Date(asUtc).setUTCFullYear(year, month - 1, day)
  if (text.endsWith('Z')) return asUtc
  const [zoneHours, zoneMinutes] = [digits(text, text.length - 5, 2), digits(text, text.length - 2, 2)]
  if (zoneHours > 23 || zoneMinutes > 59) return undefined
  const offsetMs = (zoneHours * 60 + zoneMinutes) * 60_000
  return text.at(-6) === '-' ? asUtc + offsetMs : asUtc - offsetMs
}
