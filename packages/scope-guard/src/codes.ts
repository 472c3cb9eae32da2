import type { HeaderField } from '@gatewright/kernel'
import { denier, type DenialOf } from '@gatewright/kernel/internal'
import type { LimitState } from './rate-limits/header-fields.ts'

/** Every denial of this package with its HTTP status. */
export const codes = {
  invalid_request: 400,
  unauthorized: 401,
  session_expired: 401,
  invalid_dpop_proof: 401,
  use_dpop_nonce: 401,
  insufficient_scope: 403,
  wrong_surface: 403,
  policy_blocked: 403,
  approval_required: 403,
  approval_denied: 403,
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
  'denyPayees',
  'payees',
  'maxAuthAmountCents',
  'dailySpendCapCents',
  'dailyWithdrawalCapCents',
  'approveAboveCents',
  'limits',
  'currency',
] as const
export type GuardRule = (typeof rules)[number]

/** Every `reason` of an `unauthorized`, `invalid_dpop_proof` or `use_dpop_nonce`, and of the `invalid_request` of a malformed credential: the exact cause, for the decision event. */
export const reasons = [
  'no credential',
  'malformed credential',
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
  'the token names no policies',
  'an id with a NUL or a lone surrogate',
  'the token is bound in a way that is not supported',
  'the token is not bound, and its scheme is DPoP',
  'the token is not bound, and the guard requires it',
  'the token is bound, and the guard has no dpop option',
  'the token is bound, and the request has no DPoP proof',
  'the token is bound, and its scheme is not DPoP',
  'the guard was not given the method and a valid URL',
  'more than one DPoP proof',
  'the DPoP proof is not a canonical compact JWS',
  'wrong typ of the DPoP proof',
  'crit header of the DPoP proof',
  'the DPoP proof has no public key',
  'the algorithm of the DPoP proof is not accepted',
  'the DPoP proof lacks jti, htm, htu, iat or ath',
  'the DPoP proof is for another method',
  'the DPoP proof is for another URL',
  'the DPoP proof was issued in the future',
  'the DPoP proof is too old',
  'the DPoP proof is for another token',
  'the DPoP proof is by another key',
  'the DPoP proof has no nonce of this API',
  'the nonce of the DPoP proof is unknown or too old',
  'invalid signature of the DPoP proof',
  'the DPoP proof was used before',
  'revoked',
] as const
export type GuardReason = (typeof reasons)[number]

/** The facts behind a decision: ids and counts, no credential. For decision events; never part of a response. */
export interface Evidence {
  readonly operation: string
  readonly accountId: string
  readonly keyId: string
  readonly sessionId: string
  /** The policies that apply to the session. */
  readonly policyIds: readonly string[]
  /**
   * Identifies the ids and the content of all policies that applied: the same on every host, and another one after a change of any
   * of them. 22 characters of base64url.
   */
  readonly policyRevision: string
  /** Every limit that counted the request, with what remains and when it resets. */
  readonly limits: readonly LimitState[]
}

/** A denial of the guard, with the header fields of its response. */
export type GuardDenial = DenialOf<typeof codes> & {
  readonly headers: readonly HeaderField[]
  /** Present if the session was verified. */
  readonly evidence?: Evidence
}

/** A denial of an amount: a policy blocks it or asks for an approval, or it is malformed and `field` names the wrong member. */
export type SpendDenial = DenialOf<
  Pick<typeof codes, 'invalid_request' | 'policy_blocked' | 'approval_required' | 'approval_denied'>
> &
  Pick<GuardDenial, 'headers' | 'evidence'>

/** Makes a denial with the status of its code. */
export const deny: ReturnType<typeof denier<typeof codes, GuardRule, GuardReason>> = denier(codes)
