import type { Chain } from './policy/compile.ts'
import type { Policy } from './policy/policy.ts'

/** The money one call moves: the server's own amount, never a number from the body where both exist. */
export interface Spend {
  /** Integer minor units, at least 0. */
  readonly amountCents: number
  /** ISO 4217. Caps are in US cents. */
  readonly currency: string
}

/** What a `reserve` held. Plain data: it may be stored with the business row and settled later. */
export interface SpendHold {
  readonly id: string
  readonly accountId: string
  /** Held US cents. */
  readonly amountCents: number
}

/** Members that only a spend store could enforce; without one they block every money operation. */
const COUNTED = ['dailySpendCapCents', 'dailyWithdrawalCapCents', 'limits'] as const
/** Members under which an amount in another currency cannot be judged. */
const MONEY: readonly (keyof Policy)[] = ['maxAuthAmountCents', ...COUNTED]

/** Why the chain blocks a spend, or undefined. */
export function spendBlock(chain: Chain, spend: Spend): { rule: string; policyId: string } | undefined {
  for (const { id, policy } of chain.policies) {
    const counted = COUNTED.find(member => policy[member] !== undefined)
    if (counted) return { rule: counted, policyId: id }
    for (const member of ['allowedIps', 'allowCardSecrets'] as const) {
      if (policy[member] !== undefined) return { rule: member, policyId: id }
    }
    if (spend.currency !== 'USD' && MONEY.some(member => policy[member] !== undefined)) {
      return { rule: 'currency', policyId: id }
    }
    const most = policy.maxAuthAmountCents
    if (most !== undefined && spend.amountCents > most) return { rule: 'maxAuthAmountCents', policyId: id }
  }
  return undefined
}
