import type { EpochMs } from '@gatewright/kernel'

/** A plan that users can subscribe to. */
export interface Plan {
  readonly id: string
  /** One line for people. */
  readonly title: string
  /** The price of one period: integer US cents, 1 to 100 000 000. */
  readonly amountCents: number
  readonly interval: PlanInterval
}

/** The length of a period in calendar months (UTC). */
export const INTERVAL_MONTHS = { month: 1, year: 12 } as const
export type PlanInterval = keyof typeof INTERVAL_MONTHS

/** The plans of a sandbox without `PLANS_FILE`. */
export const SANDBOX_PLANS: readonly Plan[] = [
  { id: 'basic', title: 'Basic', amountCents: 500, interval: 'month' },
  { id: 'pro', title: 'Pro', amountCents: 2500, interval: 'month' },
]

/** The paid term of a subscription: `months` calendar months from `anchorAt`. */
export interface PaidTerm {
  readonly anchorAt: EpochMs
  readonly months: number
}

/** Returns the exclusive end of a paid term: on the anchor's day of the month, or on the last day of a shorter month. */
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
 * Returns the term after another payment at `now`. A term is extended by whole periods, so that a subscription that began on the 31st
 * keeps that day: a payment in time pays the next period, and a late one the period in which `now` lies. The first payment starts a
 * term at `now`.
 */
export function extendTerm(term: PaidTerm | undefined, interval: PlanInterval, now: EpochMs): PaidTerm {
  const period = INTERVAL_MONTHS[interval]
  if (!term) return { anchorAt: now, months: period }
  let months = term.months + period
  while (termEnd({ ...term, months }) <= now) months += period
  return { anchorAt: term.anchorAt, months }
}
