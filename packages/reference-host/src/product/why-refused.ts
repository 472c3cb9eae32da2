import { money } from '@gatewright/host/internal'

/** What is kept of a refusal. */
interface Refusal {
  /** The code of the error; null for a success. */
  readonly error: string | null
  /** The policy rule that blocked. */
  readonly rule: string | null
  readonly details?: unknown
}

const RULES: Readonly<Record<string, string>> = {
  maxAuthAmountCents: 'limit at once',
  dailySpendCapCents: 'daily limit',
  dailyWithdrawalCapCents: 'daily withdrawals',
}

/** Says in a few words why a request was refused, such as `daily limit, 0.09 left`: the rule, or else the code of the error. An empty text for a success. */
export function whyRefused({ error, rule, details }: Refusal): string {
  if (rule === null) return error ?? ''
  const { unit, remaining, limit } = (details ?? {}) as Readonly<Record<string, unknown>>
  const about = RULES[rule] ?? rule
  const left = rule === 'maxAuthAmountCents' ? limit : remaining
  if (unit !== 'cents' || typeof left !== 'number') return about
  return rule === 'maxAuthAmountCents' ? `${about}: ${dollars(left)}` : `${about}, ${dollars(left)} left`
}

const dollars = (cents: number): string => money(cents).replace(/ USD$/, '')
