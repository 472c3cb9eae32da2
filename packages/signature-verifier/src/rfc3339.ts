import type { EpochMs } from '@gatewright/kernel'

const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:Z|([+-])(\d{2}):(\d{2}))$/

const MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/**
 * Reads an RFC 3339 date-time strictly: upper-case `T` and `Z`, a zone always, a day that the month has, at most
 * nine digits of fraction (cut to ms). Undefined for anything else, leap seconds included: they have no epoch ms.
 */
export function parseRfc3339(text: unknown): EpochMs | undefined {
  if (typeof text !== 'string' || text.length > 35) return undefined
  const match = DATE_TIME.exec(text)
  if (!match) return undefined
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as Six
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = month === 2 && !leap ? 28 : (MONTHS[month - 1] ?? 0)
  if (day < 1 || day > days || hour > 23 || minute > 59 || second > 59) return undefined
  const zoneHours = Number(match[9] ?? 0)
  const zoneMinutes = Number(match[10] ?? 0)
  if (zoneHours > 23 || zoneMinutes > 59) return undefined
  const offset = (zoneHours * 60 + zoneMinutes) * (match[8] === '-' ? -60_000 : 60_000)
  const fraction = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'))
  // setUTCFullYear, because Date.UTC reads the years 0 to 99 as 1900 to 1999.
  const local = new Date(Date.UTC(2000, 0, 1, hour, minute, second, fraction)).setUTCFullYear(
    year,
    month - 1,
    day,
  )
  return local - offset
}

type Six = [number, number, number, number, number, number]
