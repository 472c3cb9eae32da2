import { allow, type Clock, type EpochMs, type Rule, type Session, type Verdict } from '@gatewright/kernel'
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
import type { Challenges } from './challenge.ts'
import type { GuardDenial } from './codes.ts'
import { rateLimitFields, type LimitState } from './limits/fields.ts'
import type { RuleLimits } from './limits/limits.ts'
import type { ChainLoader } from './policy/chain.ts'
import type { Block } from './policy/gates.ts'
import type { Revocation } from './revocation/revocation.ts'
import { lackingScopes, neededScopes } from './rule.ts'
import { countCall, type SpendOptions } from './spend.ts'

/** What the decisions of one guard work with. */
export interface GuardParts {
  readonly clock: Clock
  readonly challenges: Challenges
  readonly authenticate: Authenticate
  readonly chainOf: ChainLoader
  readonly revocation: Revocation
  /** The limits of a rule, which is checked the first time. Throws a `TypeError` for a wrong rule. */
  readonly prepare: (rule: Rule) => RuleLimits
  readonly spending: SpendOptions
}

/** One request of a verified session. */
interface CheckContext {
  readonly verified: VerifiedSession
  readonly rule: Rule
  readonly limits: RuleLimits
  readonly address: string | undefined
  readonly now: EpochMs
}

/** See `Guard.check`. */
export async function checkRequest(
  parts: GuardParts,
  { authorization, address }: GuardFacts,
  rule: Rule,
): Promise<Verdict<Access, GuardDenial>> {
  const limits = parts.prepare(rule)
  const verified = await parts.authenticate(authorization, address)
  if (isDenial(verified)) return verified
  return decide(parts, { verified, rule, limits, address, now: parts.clock.now() })
}

/** See `Guard.authorize`. */
export async function authorizeSession(
  parts: GuardParts,
  session: Session,
  { address }: GuardFacts,
  rule: Rule,
): Promise<Verdict<Access, GuardDenial>> {
  const limits = parts.prepare(rule)
  const verified = await verifiedElsewhere(parts, session)
  return decide(parts, { verified, rule, limits, address, now: parts.clock.now() })
}

/** See `Guard.authenticate`. */
export async function authenticateSession(
  parts: GuardParts,
  { authorization, address }: GuardFacts,
): Promise<Verdict<Session, GuardDenial>> {
  const verified = await parts.authenticate(authorization, address)
  if (isDenial(verified)) return verified
  const { session } = verified
  return (await endedDenial(parts, session, parts.clock.now())) ?? allow(session)
}

/** A session that another party has verified. */
export async function verifiedElsewhere({ chainOf }: GuardParts, session: Session): Promise<VerifiedSession> {
  const chain = await chainOf(session.policyIds)
  return { session, scopes: new Set(session.scopes), chain, lastAuthorizedRule: undefined }
}

/** Why a session no longer stands: it is past its end or revoked. */
export async function endedDenial(
  { challenges, revocation }: GuardParts,
  session: Session,
  now: EpochMs,
): Promise<GuardDenial | undefined> {
  if (now >= session.expiresAt) return challenges.expired()
  return (await revocation.isActive(session)) ? undefined : challenges.invalid('revoked')
}

/** Why a session may not call an operation at all: its surface or its scopes. */
export function ruleDenial(
  { challenges }: GuardParts,
  verified: VerifiedSession,
  rule: Rule,
): GuardDenial | undefined {
  if (verified.lastAuthorizedRule === rule) return undefined
  const { session, scopes } = verified
  if (rule.surface !== undefined && rule.surface !== session.surface) return wrongSurface(rule.surface)
  const lacking = lackingScopes(rule, scopes)
  if (lacking !== undefined) return challenges.scope(neededScopes(rule), lacking)
  verified.lastAuthorizedRule = rule
  return undefined
}

/** The policy that blocks a call, before any amount. */
export function policyBlock(
  { chain }: VerifiedSession,
  { operation, cardSecrets = false }: Rule,
  address: string | undefined,
  now: EpochMs,
): Block | undefined {
  return chain.block({ operation, now, address, cardSecrets })
}

/** Decides about a verified session. The order is a promise of `Guard.check`: the first "no" wins. */
async function decide(parts: GuardParts, context: CheckContext): Promise<Verdict<Access, GuardDenial>> {
  const { verified, rule, limits, address, now } = context
  const { session, chain } = verified
  const refused = (await endedDenial(parts, session, now)) ?? ruleDenial(parts, verified, rule)
  if (refused) return denied(context, refused, [])

  const { usedUp, states } = await limits.take(session, address)
  const headers = states.length === 0 ? [] : rateLimitFields(limits.policy, states)
  if (usedUp) return denied(context, rateLimited(usedUp, headers), states)

  const block = policyBlock(verified, rule, address, now)
  if (block) return denied(context, blocked(block), states)

  const access = accessOf(verified, rule, states, headers)
  if (!chain.countsCalls || rule.spends !== undefined) return allow(access)
  const full = await countCall(access, parts.spending)
  return full ? denied(context, blocked(full), states) : allow(access)
}

function denied(
  { verified, rule }: CheckContext,
  denial: GuardDenial,
  states: readonly LimitState[],
): GuardDenial {
  return { ...denial, evidence: evidenceOf(verified, rule, states) }
}
