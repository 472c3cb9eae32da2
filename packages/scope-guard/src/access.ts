import type { Rule, Session, HeaderField } from '@gatewright/kernel'
import { deny, type Evidence, type GuardDenial, type SpendDenial } from './codes.ts'
import type { LimitState } from './limits/fields.ts'
import type { Chain } from './policy/compile.ts'
import type { Block } from './policy/gates.ts'

/** What the guard looks at. Nothing here is trusted. */
export interface GuardFacts {
  /** The `Authorization` field as received. */
  readonly authorization: string | undefined
  /** The client's IP address, as the host established it. Without one, limits by address do not count. */
  readonly address?: string
}

/** A request that may pass. */
export interface Access {
  readonly session: Session
  readonly rule: Rule
  readonly evidence: Evidence
  /** Header fields for the answer: `RateLimit-Policy` and `RateLimit`. */
  readonly headers: readonly HeaderField[]
  /** The session's compiled policies, for `reserve`. */
  readonly chain: Chain
}

/** A session whose credential is verified, with what is computed from it once. */
export interface VerifiedSession {
  readonly session: Session
  readonly scopes: ReadonlySet<string>
  readonly chain: Chain
  /** The last rule whose surface and scopes it met: neither can change, so they need no second look. */
  lastAuthorizedRule: Rule | undefined
}

/** Says what a decision about a session was made from. */
export function evidenceOf(
  { session }: VerifiedSession,
  rule: Rule,
  limits: readonly LimitState[],
): Evidence {
  const { accountId, keyId, sessionId, policyIds } = session
  return { operation: rule.operation, accountId, keyId, sessionId, policyIds, limits }
}

/** Builds the "yes". */
export function accessOf(
  verified: VerifiedSession,
  rule: Rule,
  limits: readonly LimitState[],
  headers: readonly HeaderField[],
): Access {
  const { session, chain } = verified
  return { session, rule, evidence: evidenceOf(verified, rule, limits), headers, chain }
}

const NONE: readonly HeaderField[] = []

/** A session of one surface on an operation of the other. */
export function wrongSurface(surface: string): GuardDenial {
  const message = `This operation takes a ${surface} session`
  return { ...deny('wrong_surface', message, { details: { surface } }), headers: NONE }
}

/** A limit that is used up. `Retry-After` is never earlier than its reset. */
export function rateLimited(
  { name, resetSeconds }: LimitState,
  headers: readonly HeaderField[],
): GuardDenial {
  const details = { limit: name }
  return {
    ...deny('rate_limited', 'Too many requests', { retryAfterSeconds: resetSeconds, details }),
    headers: [...headers, ['Retry-After', String(resetSeconds)]],
  }
}

/** A policy that blocks; `block` names the rule and what the caller may know. Quotas stay out of its fields. */
export function blocked(block: Block): GuardDenial & SpendDenial {
  const message = `Blocked by the policy rule ${block.rule}`
  return { ...deny('policy_blocked', message, { details: block }), headers: NONE }
}
