import type { CommandArguments } from '@gatewright/host/cli'
import { dollarsArgument } from '../../modules/command-arguments.ts'

/** The most that a command pays or allows, in US cents. */
export const MAX_CENTS = 100_000_000

/** The options that limit a key. */
export const POLICY_OPTIONS = {
  daily: 'the most it may pay a day, in US dollars such as 50.00',
  payment: 'the most it may pay at once, in US dollars such as 10.00',
} as const

/** Returns the policy that options describe. Throws a `UsageError`. */
export function policyOf({ daily, payment }: CommandArguments['options']): {
  readonly dailySpendCapCents?: number
  readonly maxAuthAmountCents?: number
} {
  return {
    ...(daily === undefined ? {} : { dailySpendCapCents: dollarsArgument('--daily', daily, MAX_CENTS) }),
    ...(payment === undefined
      ? {}
      : { maxAuthAmountCents: dollarsArgument('--payment', payment, MAX_CENTS) }),
  }
}
