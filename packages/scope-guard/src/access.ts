import type { Rule, Session, HeaderField } from '@gatewright/kernel'
import { counterOwner } from '@gatewright/kernel/internal'
import { deny, type Evidence, type GuardDenial, type SpendDenial } from './codes.ts'
import { blockMessage, exceededMessage } from './policies/block-words.ts'
import type { CounterItem } from './policies/caps.ts'
import type { Chain } from './policies/chain.ts'
import type { Block } from './policies/predicates.ts'
import { freeAt, isRolling } from './policies/rolling.ts'
import type { LimitState } from './rate-limits/header-fields.ts'
import type { Approval } from './storage/approvals-port.ts'
import type { CounterUsage } from './storage/port.ts'

/** What the guard reads of a request. None of it is trusted. */
export interface GuardFacts {
  /** The `Authorization` field as received. */
  readonly authorization: string | undefined
  /** The client's IP address, as the host determined it. Without an address, limits per address do not apply. */
  readonly address?: string
  /** The `DPoP` field as received; several fields joined by a comma. Required for tokens that are bound to a key. */
  readonly dpop?: string | undefined
  /** The method of the request. Needed with `dpop`. */
  readonly method?: string
  /** The URL of the request as received, absolute or from its path on. Only its path counts. Needed with `dpop`. */
  readonly url?: string
}

/** The account, the operation and the policies under which a spend is reserved. */
export interface SpendAccess {
  readonly session: Pick<Session, 'accountId'>
  readonly rule: Rule
  /** Absent if no session was checked. */
  readonly evidence?: Evidence
  /** The compiled policies. */
  readonly chain: Chain
}

/** A request that may proceed. */
export interface Access extends SpendAccess {
  readonly session: Session
  readonly evidence: Evidence
  /** Header fields for the response: `RateLimit-Policy` and `RateLimit`. */
  readonly headers: readonly HeaderField[]
}

/** A session whose credential is verified, with values that are computed once per session. */
export interface VerifiedSession {
  readonly session: Session
  readonly scopes: ReadonlySet<string>
  readonly chain: Chain
  readonly authorized: AuthorizedRule
  /**
   * The DPoP proof of this request; undefined if the token is not bound to a key. Claim it after every check that may still deny
   * the request.
   */
  readonly proof: CheckedProof | undefined
}

/** The last rule whose surface and scopes a session satisfied. Neither can change, so that rule is not checked again. */
export interface AuthorizedRule {
  lastRule: Rule | undefined
}

/** The proof of one request, which is valid except that it may have been used before. */
export interface CheckedProof {
  /** Claims the proof. Returns a denial if it was used before or has become too old. */
  claim(): Promise<GuardDenial | undefined>
  /** Header fields for the response: `DPoP-Nonce`, if the client should use a new nonce. */
  readonly headers: readonly HeaderField[]
}

/** Collects what a decision about a session was made from. */
export function evidenceOf(
  { session, chain }: VerifiedSession,
  rule: Rule,
  limits: readonly LimitState[],
): Evidence {
  const { accountId, keyId, sessionId, policyIds } = session
  const { revision: policyRevision } = chain
  return { operation: rule.operation, accountId, keyId, sessionId, policyIds, policyRevision, limits }
}

/** Builds the result of a request that may proceed. */
export function accessOf(
  verified: VerifiedSession,
  rule: Rule,
  limits: readonly LimitState[],
  headers: readonly HeaderField[],
): Access {
  const { session, chain } = verified
  return { session, rule, evidence: evidenceOf(verified, rule, limits), headers, chain }
}

const NO_HEADERS: readonly HeaderField[] = []

/** Denies a session of one surface an operation of the other surface. */
export function wrongSurface(surface: string): GuardDenial {
  const message = `This operation takes a ${surface} session`
  return { ...deny('wrong_surface', message, { details: { surface } }), headers: NO_HEADERS }
}

/** Denies a request over a rate limit. `Retry-After` is never earlier than the reset of that limit. */
export function rateLimited(
  { name, resetSeconds }: Pick<LimitState, 'name' | 'resetSeconds'>,
  headers: readonly HeaderField[],
): GuardDenial {
  const details = { limit: name }
  return {
    ...deny('rate_limited', 'Too many requests', { retryAfterSeconds: resetSeconds, details }),
    headers: [...headers, ['Retry-After', String(resetSeconds)]],
  }
}

/** Adds the evidence to the denial of a spend. */
export function withEvidence(denial: SpendDenial, evidence: Evidence | undefined): SpendDenial {
  return evidence ? { ...denial, evidence } : denial
}

/** Denies a request that a policy blocks. `block` becomes the details: the rule and what the caller may know about it. */
export function blocked(block: Block): GuardDenial & SpendDenial {
  return policyDenial(block, blockMessage(block))
}

/** Says how far a counter is used that a call would exceed, and when the call fits. `block` is for the details of a denial. */
export function counterBlock(
  { item, rule, policyId, window, timeZone }: CounterItem,
  { used, buckets = [] }: Pick<CounterUsage, 'used' | 'buckets'>,
): { readonly block: Block; readonly remaining: number; readonly freesAt: number | null } {
  const { unit, cap, amount, expiresAt } = item
  const freesAt = isRolling(window) ? freeAt(window, buckets, used + amount - cap) : expiresAt
  const resetsAt = freesAt === null ? null : new Date(freesAt).toISOString()
  const remaining = Math.max(0, cap - used)
  const zone = timeZone === undefined ? {} : { timeZone }
  const block = { rule, policyId, window, ...zone, unit, remaining, resetsAt, requested: amount, limit: cap }
  return { block, remaining, freesAt }
}

/**
 * Denies a call that would exceed the cap at `index` of those that it counts against, with what is used of it. The details say the size of the cap, what remains of it, what was
 * requested, and when the next window begins, or in a rolling window when the amount fits.
 */
export function exceeded(
  counters: readonly CounterItem[],
  index: number,
  usage: Pick<CounterUsage, 'used' | 'buckets'>,
): GuardDenial & SpendDenial {
  const counter = counters[index] as CounterItem
  const { block, remaining, freesAt } = counterBlock(counter, usage)
  return policyDenial(block, exceededMessage(counter, remaining, freesAt, counters))
}

/** Denies a spend that must be approved first. With an approval, the details say what was asked and where it is approved. */
export function approvalRequired(block: Block, approval?: Approval, approveUrl?: string): SpendDenial {
  const why = blockMessage(block)
  const named = withKey(block)
  if (!approval) return { ...deny('approval_required', why, { details: named }), headers: NO_HEADERS }
  const message = `${why} Send the request again, with the same Idempotency-Key, when it is approved.`
  const details = { ...named, ...askedDetails(approval), approveUrl }
  return { ...deny('approval_required', message, { details }), headers: NO_HEADERS }
}

/** Denies a spend whose approval the owner of the account has denied. */
export function approvalDenied(block: Block, approval: Approval): SpendDenial {
  const details = { ...withKey(block), ...askedDetails(approval) }
  const message = 'The owner of this account has denied this payment.'
  return { ...deny('approval_denied', message, { details }), headers: NO_HEADERS }
}

function askedDetails({ id, request, expiresAt }: Approval): Record<string, unknown> {
  const { operation, payee, amountCents, currency } = request
  const asked = { operation, payee, amountCents, currency }
  return { approvalId: id, ...asked, expiresAt: new Date(expiresAt).toISOString() }
}

/** Makes the denial of a policy, with the key that has the policy. */
function policyDenial(block: Block, message: string): GuardDenial & SpendDenial {
  return { ...deny('policy_blocked', message, { details: withKey(block) }), headers: NO_HEADERS }
}

/** Returns the key that has a policy: the first one of its lineage. Undefined: it is a policy of a session. */
export function keyOfPolicy(policyId: string): string | undefined {
  const owner = counterOwner(policyId)
  return owner === policyId ? undefined : owner.slice('pol_'.length)
}

function withKey(block: Block): Block {
  const keyId = keyOfPolicy(block.policyId)
  return keyId === undefined ? block : { ...block, keyId }
}
