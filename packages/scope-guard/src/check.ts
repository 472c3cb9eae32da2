import {
  allow,
  type Rule,
  type Session,
  type Verdict,
  type Clock,
  type EpochMs,
  type HeaderField,
} from '@gatewright/kernel'
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
import { andThen } from './and-then.ts'
import { isDenial, type Authenticate } from './authenticate.ts'
import { withScope, type Challenges } from './challenges.ts'
import type { GuardDenial } from './codes.ts'
import type { CheckedDpop } from './dpop/options.ts'
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
  readonly dpop: CheckedDpop | undefined
  readonly authenticate: Authenticate
  readonly chains: ChainLoader
  readonly revocation: Revocation
  /** Returns the limits of a rule, and checks the rule the first time. Throws a `TypeError` for a wrong rule. */
  readonly prepare: (rule: Rule) => RuleLimits
  readonly spending: SpendDependencies
  /** The facts whose DPoP proof `authenticate` has claimed, so that `check` with the same object does not claim it again. */
  readonly claimed: WeakSet<GuardFacts>
}

/** Implements `Guard.check`. */
export function checkRequest(
  dependencies: GuardDependencies,
  facts: GuardFacts,
  rule: Rule,
): Promise<Verdict<Access, GuardDenial>> {
  return decide(dependencies, facts, rule, undefined)
}

/** Implements `Guard.authorize`. */
export function authorizeSession(
  dependencies: GuardDependencies,
  session: Session,
  facts: GuardFacts,
  rule: Rule,
): Promise<Verdict<Access, GuardDenial>> {
  return decide(dependencies, facts, rule, session)
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
  const { session, proof } = verified
  const denial = await sessionDenial(dependencies, session, dependencies.clock.now())
  const unproven = denial ?? (await proof?.claim())
  if (unproven) return unproven
  if (proof) dependencies.claimed.add(facts)
  return allow(session)
}

/** Implements `Guard.admit`. */
export async function admitSession(
  { prepare }: GuardDependencies,
  session: Session,
  { address }: Pick<GuardFacts, 'address'>,
  rule: Rule,
): Promise<Verdict<readonly HeaderField[], GuardDenial>> {
  const limits = prepare(rule)
  const { usedUp, states } = await limits.take(session, address)
  const headers = states.length === 0 ? [] : rateLimitFields(limits.policy, states)
  return usedUp ? rateLimited(usedUp, headers) : allow(headers)
}

/** Loads the policies of a session that the caller has verified. */
export async function withChain({ chains }: GuardDependencies, session: Session): Promise<VerifiedSession> {
  const { chain } = await chains.load(session)
  const scopes = new Set(session.scopes)
  return { session, scopes, chain, authorized: { lastRule: undefined }, proof: undefined }
}

/**
 * Denies a session that has expired or is revoked. Returns no promise where this process knows. Fault, rejected:
 * `ERR_STORE_UNAVAILABLE`.
 */
export function sessionDenial(
  { challenges, revocation }: GuardDependencies,
  session: Session,
  now: EpochMs,
): GuardDenial | undefined | Promise<GuardDenial | undefined> {
  if (now >= session.expiresAt) return challenges.expired()
  return andThen(revocation.isActive(session), isActive =>
    isActive ? undefined : challenges.invalid('revoked'),
  )
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

/**
 * Decides about the credential of a request, or about a `session` that the caller has verified. `Guard.check` promises the order
 * of these checks. Where a step has its result without a promise, nothing is awaited: for a cached token, only limits in a shared store
 * are.
 */
async function decide(
  dependencies: GuardDependencies,
  facts: GuardFacts,
  rule: Rule,
  given: Session | undefined,
): Promise<Verdict<Access, GuardDenial>> {
  const { clock, claimed } = dependencies
  const { address } = facts
  const limits = dependencies.prepare(rule)
  const found = given ? withChain(dependencies, given) : dependencies.authenticate(facts)
  const verified = found instanceof Promise ? await found : found
  if (isDenial(verified)) return withScope(verified, requiredScopes(rule))
  const { session, chain, proof } = verified
  const now = clock.now()

  const ended = sessionDenial(dependencies, session, now)
  const denial = (ended instanceof Promise ? await ended : ended) ?? ruleDenial(dependencies, verified, rule)
  if (denial) return withEvidenceOf(withScope(denial, requiredScopes(rule)), verified, rule, NO_STATES)

  const taken = limits.take(session, address)
  const { usedUp, states } = taken instanceof Promise ? await taken : taken
  const headers = states.length === 0 ? [] : rateLimitFields(limits.policy, states)
  if (usedUp) return withEvidenceOf(rateLimited(usedUp, headers), verified, rule, states)

  const block = policyBlock(verified, rule, address, now)
  if (block) return withEvidenceOf(blocked(block), verified, rule, states)

  // Claimed after all checks but the count of calls, so that a request that is denied earlier stores no proof.
  const unproven = proof && !claimed.has(facts) ? await proof.claim() : undefined
  if (unproven) return withEvidenceOf(withScope(unproven, requiredScopes(rule)), verified, rule, states)

  const access = accessOf(verified, rule, states, proof ? [...headers, ...proof.headers] : headers)
  if (!chain.countsCalls || rule.spends !== undefined) return allow(access)
  const overCount = await countCall(access, dependencies.spending)
  return overCount ? withEvidenceOf(overCount, verified, rule, states) : allow(access)
}

const NO_STATES: readonly LimitState[] = []

function withEvidenceOf(
  denial: GuardDenial,
  verified: VerifiedSession,
  rule: Rule,
  states: readonly LimitState[],
): GuardDenial {
  return { ...denial, evidence: evidenceOf(verified, rule, states) }
}
