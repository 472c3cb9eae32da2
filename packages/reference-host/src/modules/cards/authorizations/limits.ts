import type { EpochMs } from '@gatewright/kernel'
import type { CardLimit, LimitFrequency } from '../card.ts'

const DAY_MS = 86_400_000

/** How far back each window reaches. The windows roll: they end now. */
const WINDOW_MS: Readonly<Record<Exclude<LimitFrequency, 'perAuthorization'>, number>> = {
  per24HourPeriod: DAY_MS,
  per7DayPeriod: 7 * DAY_MS,
  per30DayPeriod: 30 * DAY_MS,
  perYearPeriod: 365 * DAY_MS,
  allTime: Infinity,
}

/** The instant after which an authorization counts for a limit. Undefined: only the current authorization counts. */
export function windowStart(frequency: LimitFrequency, now: EpochMs): EpochMs | undefined {
  return frequency === 'perAuthorization' ? undefined : Math.max(now - WINDOW_MS[frequency], -1)
}

/** Whether an amount exceeds a limit under which `countedCents` were spent before. */
export function exceedsLimit(
  { amountCents: limit }: CardLimit,
  countedCents: number,
  amountCents: number,
): boolean {
  return countedCents + amountCents > limit
}

/** Whether a card has expired: it is valid until its last month has ended, in UTC. */
export function isExpired(
  { expirationMonth, expirationYear }: { readonly expirationMonth: number; readonly expirationYear: number },
  now: EpochMs,
): boolean {
  // `Date.UTC` counts months from 0, so this is the first instant of the next month.
  return now >= Date.UTC(expirationYear, expirationMonth)
}
