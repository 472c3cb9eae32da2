import { allow, type Rule, type Session, type Verdict } from '@gatewright/kernel'
import { accessOf, blocked, type Access, type GuardFacts, type VerifiedSession } from './access.ts'
import { policyBlock, ruleDenial, sessionDenial, withChain, type GuardDependencies } from './check.ts'
import type { GuardDenial, SpendDenial } from './codes.ts'
import { simulateSpend, type Spend } from './spend/reserve.ts'

/** A call whose decision is looked up without effect. */
export interface Simulation {
  readonly session: Session
  readonly facts: GuardFacts
  readonly rule: Rule
  readonly spend: Spend | undefined
}

/** Implements `Guard.simulate`. */
export async function simulate(
  dependencies: GuardDependencies,
  simulation: Simulation,
): Promise<Verdict<Access, GuardDenial | SpendDenial>> {
  dependencies.prepare(simulation.rule)
  const verified = await withChain(dependencies, simulation.session)
  return decideWithoutEffect(dependencies, verified, simulation)
}

/** Decides about a call whose policies are loaded. */
export async function decideWithoutEffect(
  dependencies: GuardDependencies,
  verified: VerifiedSession,
  { session, facts, rule, spend }: Simulation,
): Promise<Verdict<Access, GuardDenial | SpendDenial>> {
  const now = dependencies.clock.now()
  const denial = (await sessionDenial(dependencies, session, now)) ?? ruleDenial(dependencies, verified, rule)
  if (denial) return denial
  const block = policyBlock(verified, rule, facts.address, now)
  if (block) return blocked(block)
  const access = accessOf(verified, rule, [], [])
  const spending = await simulateSpend(access, spend, dependencies.spending)
  return spending.ok ? allow(access) : spending
}
