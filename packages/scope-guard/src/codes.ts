import { denier, type Denial, type DenialOf, type HeaderField } from '@gatewright/kernel'
import type { LimitState } from './limits/fields.ts'

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

/** Every rule that a `policy_blocked` of this package names in `details.rule`: a member of the policy, or `currency`. */
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

/** Every exact cause of an `unauthorized`, for the decision event. */
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
  'another type',
  'claims are not a JSON object',
  'another issuer',
  'another audience',
  'no exp',
  'no iat',
  'issued in the future',
  'nbf must be a number',
  'not valid yet',
  'unknown key',
  'algorithm is not the one of the key',
  'signature',
  'claims do not describe a session',
  'an id with a NUL or a lone surrogate',
  'revoked',
] as const
export type GuardReason = (typeof reasons)[number]

/** What a decision was made from, redacted: ids and counts, no credential. For decision events, never rendered. */
export interface Evidence {
  readonly operation: string
  readonly accountId: string
  readonly keyId: string
  readonly sessionId: string
  /** The policies that bind the session. */
  readonly policyIds: readonly string[]
  /** Every limit that counted, with what is left and when it resets. */
  readonly limits: readonly LimitState[]
}

/** A "no" of the guard, with the header fields that belong to it. */
export type GuardDenial = Exclude<DenialOf<typeof codes>, Denial<'invalid_request'>> & {
  readonly headers: readonly HeaderField[]
  /** Present as soon as the session is proven. */
  readonly evidence?: Evidence
}

/** A "no" to an amount: a policy blocks it, or it is malformed and `field` names the wrong member. */
export type SpendDenial = DenialOf<Pick<typeof codes, 'invalid_request' | 'policy_blocked'>> &
  Pick<GuardDenial, 'headers' | 'evidence'>

/** The denial of `parsePolicy`: `field` is the path of the wrong member, such as `limits[0].window`. */
export type PolicyDenial = Denial<'invalid_request'>

/** Makes a denial with the status of its code. */
export const deny: ReturnType<typeof denier<typeof codes, GuardRule, GuardReason>> = denier(codes)
