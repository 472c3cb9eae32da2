import { money } from '../../../shared/money.ts'
import { fromNow, utc } from '../../../shared/time.ts'
import { operationsWords } from '../../../shared/operations.ts'
import type { Cap } from '../wire.ts'

const NAMES: Readonly<Record<string, string>> = {
  maxAuthAmountCents: 'Each payment',
  approveAboveCents: 'Payments without asking you',
  dailySpendCapCents: 'Spending',
  dailyWithdrawalCapCents: 'Withdrawals',
}
const WINDOWS: Readonly<Record<Cap['window'], string>> = {
  operation: 'at once',
  day: 'today',
  week: 'this week',
  month: 'this month',
  '24h': 'in 24 hours',
  '7d': 'in 7 days',
  '30d': 'in 30 days',
  total: 'in total',
}

/** Names what a cap counts and over what time, such as "Spending today". */
export function capName({ rule, operations, window }: Cap): string {
  const counted = operations === null ? (NAMES[rule] ?? rule) : capital(operationsWords(operations))
  if (operations === null && window === 'operation') return counted
  // A threshold bounds nothing: what is above it waits.
  const asks = rule === 'approveAboveCents' && operations !== null ? ' without asking you,' : ''
  return `${counted}${asks} ${WINDOWS[window]}`
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Formats an amount of a cap: dollars, or how often. */
export function capAmount({ unit }: Pick<Cap, 'unit'>, amount: number): string {
  return unit === 'cents' ? money(amount) : String(amount)
}

/** Returns the unit of a cap. */
export function capUnit({ unit, cap }: Pick<Cap, 'unit' | 'cap'>): string {
  if (unit === 'cents') return 'USD'
  return cap === 1 ? 'time' : 'times'
}

/** Says when a cap resets, such as "Resets in 5 hours, at 2026-11-23 00:00 UTC". */
export function capReset({ window, resetsAt }: Cap): string {
  if (window === 'operation') return 'For each payment by itself.'
  const isRolling = ['24h', '7d', '30d'].includes(window)
  if (resetsAt === null) return isRolling ? 'Nothing is used.' : 'Never resets.'
  const begins = isRolling ? 'The first part is free' : 'Resets'
  return `${begins} ${fromNow(resetsAt)}, at ${utc(resetsAt).slice(0, 16)} UTC.`
}

/**
 * Sorts caps, the one that will be reached first at the front: caps on money by the amount that is free, then caps on calls by
 * the part that is free.
 */
export function tightestFirst(caps: readonly Cap[]): Cap[] {
  const part = ({ remaining, cap }: Cap): number => (cap === 0 ? 0 : remaining / cap)
  return [...caps].sort((a, b) => {
    if (a.unit !== b.unit) return a.unit === 'cents' ? -1 : 1
    return a.unit === 'cents' ? a.remaining - b.remaining || a.cap - b.cap : part(a) - part(b)
  })
}
