import { allow, type Rule, type Session, type Verdict } from '@gatewright/kernel'
import type { Clock, EpochMs } from '@gatewright/kernel/internal'
import {
  accessOf,
  blocked,
  evidenceOf,
  rateLimited,
  wrongSurface,
  type Access,
  type GuardFacts,
  type VerifiedSession,
} from './access.ts'
import { isDenial, type Authenticate } from './authenticate.ts'
import type { Challenges } from './challenges.ts'
import type { GuardDenial } from './codes.ts'
import { missingScopes, requiredScopes } from './missing-scopes.ts'
import type { ChainLoader } from './policies/chain-loader.ts'
import type { Block } from './policies/predicates.ts'
import { rateLimitFields, type LimitState } from './rate-limits/header-fields.ts'
import type { RuleLimits } from './rate-limits/rule-limits.ts'
import type { Revocation } from './revocation/revocation.ts'
import type { SpendDependencies } from './spend/plan.ts'
import { countCall } from './spend/reserve.ts'

/** The services and limits that the decisions of one guard use. */
export interface GuardDependencies {
  readonly clock: Clock
  readonly challenges: Challenges
  readonly authenticate: Authenticate
  readonly chains: ChainLoader
  readonly revocation: Revocation
  /** Returns the limits of a rule, and checks the rule the first time. Throws a `TypeError` for a wrong rule. */
  readonly prepare: (rule: Rule) => RuleLimits
  readonly spending: SpendDependencies
  /** The facts whose DPoP proof `authenticate` has claimed, so that `check` with the same object does not claim it again. */
  readonly claimed: WeakSet<GuardFacts>
}

/** One request of a verified session. */
interface CheckContext {
  readonly verified: VerifiedSession
  readonly rule: Rule
  readonly limits: RuleLimits
  readonly address: string | undefined
  readonly now: EpochMs
}

/** Implements `Guard.check`. */
export async function checkRequest(
  dependencies: GuardDependencies,
  facts: GuardFacts,
  rule: Rule,
): Promise<Verdict<Access, GuardDenial>> {
  const { address } = facts
  const limits = dependencies.prepare(rule)
  const verified = await dependencies.authenticate(facts)
  if (isDenial(verified)) return verified
  if (verified.claimProof && dependencies.claimed.has(facts)) {
    const { claimProof: _, ...claimed } = verified
    return decide(dependencies, { verified: claimed, rule, limits, address, now: dependencies.clock.now() })
  }
  return decide(dependencies, { verified, rule, limits, address, now: dependencies.clock.now() })
}

/** Implements `Guard.authorize`. */
export async function authorizeSession(
  dependencies: GuardDependencies,
  session: Session,
  { address }: GuardFacts,
  rule: Rule,
): Promise<Verdict<Access, GuardDenial>> {
  const limits = dependencies.prepare(rule)
  const verified = await withChain(dependencies, session)
  return decide(dependencies, { verified, rule, limits, address, now: dependencies.clock.now() })
}

/** Implements `Guard.recheck`. */
export async function recheckAccess(
  dependencies: GuardDependencies,
  access: Access,
  { address }: Pick<GuardFacts, 'address'>,
): Promise<Verdict<Access, GuardDenial>> {
  const { session, rule, evidence } = access
  const now = dependencies.clock.now()
  const denial = await sessionDenial(dependencies, session, now)
  if (denial) return { ...denial, evidence }
  const block = policyBlock(access, rule, address, now)
  return block ? { ...blocked(block), evidence } : allow(access)
}

/** Implements `Guard.authenticate`. */
export async function authenticateSession(
  dependencies: GuardDependencies,
  facts: GuardFacts,
): Promise<Verdict<Session, GuardDenial>> {
  const verified = await dependencies.authenticate(facts)
  if (isDenial(verified)) return verified
  const { session, claimProof } = verified
  const denial = await sessionDenial(dependencies, session, dependencies.clock.now())
  const unproven = denial ?? (await claimProof?.())
  if (unproven) return unproven
  if (claimProof) dependencies.claimed.add(facts)
  return allow(session)
}

/** Loads the policies of a session that the caller has verified. */
export async function withChain({ chains }: GuardDependencies, session: Session): Promise<VerifiedSession> {
  const { chain } = await chains.load(session)
  return { session, scopes: new Set(session.scopes), chain, authorized: { lastRule: undefined } }
}

/** Denies a session that has expired or is revoked. */
export async function sessionDenial(
  { challenges, revocation }: GuardDependencies,
  session: Session,
  now: EpochMs,
): Promise<GuardDenial | undefined> {
  if (now >= session.expiresAt) return challenges.expired()
  return (await revocation.isActive(session)) ? undefined : challenges.invalid('revoked')
}

/** Denies a session the operation if its surface or its scopes do not satisfy the rule. */
export function ruleDenial(
  { challenges }: GuardDependencies,
  verified: VerifiedSession,
  rule: Rule,
): GuardDenial | undefined {
  if (verified.authorized.lastRule === rule) return undefined
  const { session, scopes } = verified
  if (rule.surface !== undefined && rule.surface !== session.surface) return wrongSurface(rule.surface)
  const missing = missingScopes(rule, scopes)
  if (missing !== undefined) return challenges.scope(requiredScopes(rule), missing)
  verified.authorized.lastRule = rule
  return undefined
}

/** Returns the policy rule that blocks a call, before any amount is known. */
export function policyBlock(
  { chain }: Pick<VerifiedSession, 'chain'>,
  { operation, cardSecrets = false }: Rule,
  address: string | undefined,
  now: EpochMs,
): Block | undefined {
  return chain.block({ operation, now, address, cardSecrets })
}

/** Decides about a verified session. `Guard.check` promises the order of these checks. */
async function decide(
  dependencies: GuardDependencies,
  context: CheckContext,
): Promise<Verdict<Access, GuardDenial>> {
  const { verified, rule, limits, address, now } = context
  const { session, chain } = verified
  const denial = (await sessionDenial(dependencies, session, now)) ?? ruleDenial(dependencies, verified, rule)
  if (denial) return denied(context, denial, [])

  const { usedUp, states } = await limits.take(session, address)
  const headers = states.length === 0 ? [] : rateLimitFields(limits.policy, states)
  if (usedUp) return denied(context, rateLimited(usedUp, headers), states)

  const block = policyBlock(verified, rule, address, now)
  if (block) return denied(context, blocked(block), states)

  // Claimed after all checks but the count of calls, so that a request that is denied earlier stores no proof.
  const unproven = await verified.claimProof?.()
  if (unproven) return denied(context, unproven, states)

  const access = accessOf(verified, rule, states, headers)
  if (!chain.countsCalls || rule.spends !== undefined) return allow(access)
  const overCount = await countCall(access, dependencies.spending)
  return overCount ? denied(context, blocked(overCount), states) : allow(access)
}

function denied(
  { verified, rule }: CheckContext,
  denial: GuardDenial,
  states: readonly LimitState[],
): GuardDenial {
  return { ...denial, evidence: evidenceOf(verified, rule, states) }
}
