import { denier, type Denial, type DenialOf, type HeaderField } from '@gatewright/kernel'
import type { LimitState } from './rate-limits/header-fields.ts'

/** Every denial of this package with its HTTP status. */
export const codes = {
  invalid_request: 400,
  unauthorized: 401,
  session_expired: 401,
  insufficient_scope: 403,
  wrong_surface: 403,
  policy_blocked: 403,
  rate_limited: 429,
} as const

/** Every value of `details.rule` in a `policy_blocked` of this package: a member of the policy, or `currency`. */
export const rules = [
  'denyOperations',
  'allowOperations',
  'notBefore',
  'notAfter',
  'allowedIps',
  'allowCardSecrets',
  'maxAuthAmountCents',
  'dailySpendCapCents',
  'dailyWithdrawalCapCents',
  'limits',
  'currency',
] as const
export type GuardRule = (typeof rules)[number]

/** Every `reason` of an `unauthorized`: the exact cause, for the decision event. */
export const reasons = [
  'no credential',
  'token too long',
  'not a canonical compact JWS',
  'unreadable header',
  'no kid',
  'crit header',
  'jwk header',
  'jku header',
  'x5u header',
  'x5c header',
  'wrong typ',
  'claims are not a JSON object',
  'wrong issuer',
  'wrong audience',
  'no exp',
  'no iat',
  'issued in the future',
  'nbf must be a number',
  'not valid yet',
  'unknown key',
  'the algorithm does not match the key',
  'invalid signature',
  'claims do not describe a session',
  'an id with a NUL or a lone surrogate',
  'revoked',
] as const
export type GuardReason = (typeof reasons)[number]

/** What a decision was made from: ids and counts, no credential. For decision events; never part of a response. */
export interface Evidence {
  readonly operation: string
  readonly accountId: string
  readonly keyId: string
  readonly sessionId: string
  /** The policies that apply to the session. */
  readonly policyIds: readonly string[]
  /** Every limit that counted the request, with what remains and when it resets. */
  readonly limits: readonly LimitState[]
}

/** A denial of the guard, with the header fields of its response. */
export type GuardDenial = Exclude<DenialOf<typeof codes>, Denial<'invalid_request'>> & {
  readonly headers: readonly HeaderField[]
  /** Present if the session was verified. */
  readonly evidence?: Evidence
}

/** A denial of an amount: a policy blocks it, or it is malformed and `field` names the wrong member. */
export type SpendDenial = DenialOf<Pick<typeof codes, 'invalid_request' | 'policy_blocked'>> &
  Pick<GuardDenial, 'headers' | 'evidence'>

/** Makes a denial with the status of its code. */
export const deny: ReturnType<typeof denier<typeof codes, GuardRule, GuardReason>> = denier(codes)
