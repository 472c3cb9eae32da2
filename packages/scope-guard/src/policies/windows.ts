import type { EpochMs } from '@gatewright/kernel'
import type { Window } from './policy.ts'

interface CalendarWindow {
  /** Distinguishes the window from others of its kind: `2026-11-20`, `2026-11`, `total`. */
  readonly label: string
  /** The first instant after the window, or null if it never ends. */
  readonly endsAt: EpochMs | null
}

const DAY_MS = 86_400_000

/**
 * Finds the UTC calendar window that an instant belongs to. A window includes its first instant and excludes its end:
 * at midnight exactly the new day has begun. Every UTC day is 86 400 000 ms long, since epoch time has no leap seconds.
 */
export function windowAt(window: Exclude<Window, 'operation'>, now: EpochMs): CalendarWindow {
  if (window === 'total') return { label: 'total', endsAt: null }
  const date = new Date(now).toISOString()
  if (window === 'day') {
    return { label: date.slice(0, 10), endsAt: (Math.floor(now / DAY_MS) + 1) * DAY_MS }
  }
  const at = new Date(now)
  return { label: date.slice(0, 7), endsAt: Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1) }
}
