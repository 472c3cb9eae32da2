import { type CommandArguments, UsageError } from '@gatewright/host/internal'

/** The options that limit a key. */
export const POLICY_OPTIONS = {
  daily: 'the most it may pay a day, in US dollars such as 50 or 12.50',
  payment: 'the most it may pay at once, in US dollars',
} as const

/** Returns the policy that options describe. Throws a `UsageError`. */
export function policyOf({ daily, payment }: CommandArguments['options']): {
  readonly dailySpendCapCents?: number
  readonly maxAuthAmountCents?: number
} {
  return {
    ...(daily === undefined ? {} : { dailySpendCapCents: dollarsArgument('--daily', daily) }),
    ...(payment === undefined ? {} : { maxAuthAmountCents: dollarsArgument('--payment', payment) }),
  }
}

/** Reads US dollars such as 50 or 12.50, and returns cents. Throws a `UsageError`. */
export function dollarsArgument(name: string, text: string): number {
  const [, dollars, cents = '00'] = /^(0|[1-9]\d{0,6})(?:\.(\d\d))?$/.exec(text) ?? []
  const value = dollars === undefined ? 0 : Number(dollars) * 100 + Number(cents)
  if (value > 0) return value
  throw new UsageError(`${name} must be US dollars such as 50 or 12.50, got ${JSON.stringify(text)}`)
}
