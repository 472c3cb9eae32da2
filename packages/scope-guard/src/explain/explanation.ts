import type { Verdict } from '@gatewright/kernel'
import type { Access } from '../access.ts'
import type { GuardDenial, GuardRule, SpendDenial } from '../codes.ts'
import type { CapState } from '../spend/cap-states.ts'

/** What one rule of one policy decides about a call. */
export interface ExplainedRule {
  readonly policyId: string
  /** The member of the policy; `currency` for whether money caps can count the currency of the amount. */
  readonly rule: GuardRule
  /**
   * `skipped`: the rule was not applied. It is for other operations, no well-formed amount was given, or there is no rate for the
   * currency.
   */
  readonly outcome: 'passes' | 'blocks' | 'skipped'
  /**
   * Whether the rule is what limits the call: the one that the denial names; where the call passes, the applied cap with the
   * least left, one for each unit.
   */
  readonly binds: boolean
  /** The cap with its usage. Undefined for a rule that is no cap. */
  readonly cap: CapState | undefined
  /** What the call adds to the cap, in its unit. Undefined for a rule that is no cap or is skipped. */
  readonly requested: number | undefined
}

/** Why a call may proceed or not, by the state of one instant. */
export interface Explanation {
  /** What `simulate` returns in this state. */
  readonly decision: Verdict<Access, GuardDenial | SpendDenial>
  /** Identifies the ids and the content of the policies: `Evidence.policyRevision`. */
  readonly policyRevision: string
  /** The rules that need no amount, in the order in which they are checked; then the caps. Of caps with one counter, only the lowest. */
  readonly rules: readonly ExplainedRule[]
  /** The same for people: lines of at most 80 characters, unless a name is longer. */
  readonly lines: readonly string[]
}
