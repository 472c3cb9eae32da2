import type { EpochMs } from '@gatewright/kernel'

/** Something that users can subscribe to. */
export interface Plan {
  readonly id: string
  /** One line for people. */
  readonly title: string
  /** The price of one period: integer US cents, 1 to 100 000 000. */
  readonly amountCents: number
  readonly interval: PlanInterval
}

/** How long one payment lasts, in calendar months (UTC). */
export const INTERVAL_MONTHS = { month: 1, year: 12 } as const
export type PlanInterval = keyof typeof INTERVAL_MONTHS

/** What a sandbox sells when `PLANS_FILE` is not set. */
export const SANDBOX_PLANS: readonly Plan[] = [
  { id: 'basic', title: 'Basic', amountCents: 500, interval: 'month' },
  { id: 'pro', title: 'Pro', amountCents: 2500, interval: 'month' },
]

/** How far a subscription is paid: `months` calendar months from `anchorAt`. */
export interface PaidTerm {
  readonly anchorAt: EpochMs
  readonly months: number
}

/** When a paid term ends, exclusive: the anchor's day of the month, or the month's last day where it has no such day. */
export function termEnd({ anchorAt, months }: PaidTerm): EpochMs {
  const anchor = new Date(anchorAt)
  const end = new Date(anchorAt)
  end.setUTCDate(1)
  end.setUTCMonth(anchor.getUTCMonth() + months)
  const lastDay = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() + 1, 0)).getUTCDate()
  end.setUTCDate(Math.min(anchor.getUTCDate(), lastDay))
  return end.getTime()
}

/**
 * The term after one more payment at `now`: it follows the one that runs, so that the 31st stays the 31st; after a gap, or
 * at first, it starts now.
 */
export function extendTerm(term: PaidTerm | undefined, interval: PlanInterval, now: EpochMs): PaidTerm {
  const months = INTERVAL_MONTHS[interval]
  if (!term || termEnd(term) <= now) return { anchorAt: now, months }
  return { anchorAt: term.anchorAt, months: term.months + months }
}
