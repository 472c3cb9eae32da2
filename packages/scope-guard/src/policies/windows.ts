import type { EpochMs } from '@gatewright/kernel'
import type { RollingWindow, Window } from './policy.ts'
import { UTC_DAYS, zoneDays } from './time-zones.ts'

interface CalendarWindow {
  /** Distinguishes the window from others of its kind: `2026-11-20`, `2026-11`, `total`. A week is named by its Monday. */
  readonly label: string
  /** The first instant after the window, or null if it never ends. */
  readonly endsAt: EpochMs | null
}

const DAY_MS = 86_400_000
/** 1970-01-05, the first Monday. */
const MONDAY = 4

/**
 * Finds the calendar window that an instant belongs to, in a time zone or in UTC. A window includes its first instant and excludes its
 * end: at midnight exactly the new day has begun. A week begins on Monday (ISO 8601).
 */
export function windowAt(
  window: Exclude<Window, 'operation' | RollingWindow>,
  now: EpochMs,
  timeZone: string | undefined,
): CalendarWindow {
  if (window === 'total') return { label: 'total', endsAt: null }
  const { dayAt, startOf } = timeZone === undefined ? UTC_DAYS : zoneDays(timeZone)
  const day = dayAt(now)
  if (window === 'day') return { label: dateOf(day), endsAt: startOf(day + 1) }
  if (window === 'week') {
    const monday = day - ((((day - MONDAY) % 7) + 7) % 7)
    return { label: dateOf(monday), endsAt: startOf(monday + 7) }
  }
  const date = new Date(day * DAY_MS)
  const next = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / DAY_MS
  return { label: dateOf(day).slice(0, 7), endsAt: startOf(next) }
}

const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10)
