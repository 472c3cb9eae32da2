import type { EpochMs } from '@gatewright/kernel'
import { LRUCache } from '#platform/lru'

/** The days of a time zone, numbered from 0 for 1970-01-01. */
export interface ZoneDays {
  /** The day that an instant belongs to. */
  dayAt(now: EpochMs): number
  /** The first instant of a day. */
  startOf(day: number): EpochMs
}

const DAY_MS = 86_400_000
const SECOND_MS = 1000
/** How many zones are cached. A formatter takes some 20 KB. */
const MAX_ZONES = 128
/** How many days of a zone are cached. */
const MAX_DAYS = 64

/** Every UTC day is 86 400 000 ms long, since epoch time has no leap seconds. */
export const UTC_DAYS: ZoneDays = {
  dayAt: now => Math.floor(now / DAY_MS),
  startOf: day => day * DAY_MS,
}

const zones = new LRUCache<string, ZoneDays>({ maxSize: MAX_ZONES })

/** Whether this runtime knows a time zone by its IANA name. Offsets such as `+01:00` are not names. */
export function isTimeZone(name: unknown): boolean {
  if (typeof name !== 'string' || !/^[A-Za-z][\w+/-]{0,63}$/.test(name)) return false
  try {
    zoneDays(name)
    return true
  } catch {
    return false
  }
}

/** Returns the days of a time zone that `isTimeZone` accepts. Throws a `RangeError` for another one. */
export function zoneDays(name: string): ZoneDays {
  if (name === 'UTC') return UTC_DAYS
  const known = zones.get(name)
  if (known) return known
  const made = daysOf(localClock(name))
  zones.set(name, made, { size: 1 })
  return made
}

/** Returns what the clocks of a zone show at an instant, as if it were UTC. */
function localClock(timeZone: string): (at: EpochMs) => number {
  const format = new Intl.DateTimeFormat('en-u-ca-iso8601-nu-latn', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  return at => {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
    const { year = NaN, month = NaN, day, hour, minute, second } = parts
    return Date.UTC(year, month - 1, day, hour, minute, second)
  }
}

/**
 * A day begins when the clocks pass its midnight, also where they skip midnight. Its first instant depends on the day alone, so that days
 * never overlap and an amount is never counted in two, also where clocks go back over midnight.
 */
function daysOf(localAt: (at: EpochMs) => number): ZoneDays {
  const starts = new Map<number, EpochMs>()
  const startOf = (day: number): EpochMs => {
    const known = starts.get(day)
    if (known !== undefined) return known
    const midnight = day * DAY_MS
    // No zone is a day or more from UTC, and clocks change at whole seconds.
    let [before, from] = [
      midnight / SECOND_MS - DAY_MS / SECOND_MS,
      midnight / SECOND_MS + DAY_MS / SECOND_MS,
    ]
    while (from - before > 1) {
      const middle = Math.floor((before + from) / 2)
      if (localAt(middle * SECOND_MS) < midnight) before = middle
      else from = middle
    }
    if (starts.size === MAX_DAYS) starts.clear()
    starts.set(day, from * SECOND_MS)
    return from * SECOND_MS
  }
  let [today, begins, ends] = [0, 0, 0]
  return {
    startOf,
    dayAt(now) {
      if (now >= begins && now < ends) return today
      const shown = Math.floor(localAt(now) / DAY_MS)
      today = now < startOf(shown) ? shown - 1 : now >= startOf(shown + 1) ? shown + 1 : shown
      begins = startOf(today)
      ends = startOf(today + 1)
      return today
    },
  }
}
