import { allow, type Rule, type Session, type Verdict } from '@gatewright/kernel'
import { accessOf, blocked, type Access, type GuardFacts } from './access.ts'
import { endedDenial, policyBlock, ruleDenial, verifiedElsewhere, type GuardParts } from './check.ts'
import type { GuardDenial, SpendDenial } from './codes.ts'
import { simulateSpend, type Spend } from './spend.ts'

/** What a simulation asks about. */
export interface Simulation {
  readonly session: Session
  readonly facts: GuardFacts
  readonly rule: Rule
  readonly spend: Spend | undefined
}

/** See `Guard.simulate`. */
export async function simulate(
  parts: GuardParts,
  { session, facts, rule, spend }: Simulation,
): Promise<Verdict<Access, GuardDenial | SpendDenial>> {
  parts.prepare(rule)
  const verified = await verifiedElsewhere(parts, session)
  const now = parts.clock.now()
  const refused = (await endedDenial(parts, session, now)) ?? ruleDenial(parts, verified, rule)
  if (refused) return refused
  const block = policyBlock(verified, rule, facts.address, now)
  if (block) return blocked(block)
  const access = accessOf(verified, rule, [], [])
  const answer = await simulateSpend(access, spend, parts.spending)
  return answer.ok ? allow(access) : answer
}
