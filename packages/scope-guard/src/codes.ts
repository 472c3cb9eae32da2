import { denier, type Denial, type DenialOf } from '@gatewright/kernel'
import type { LimitState } from './limits/fields.ts'

/** Every denial of this package with its HTTP status. */
export const CODES = {
  invalid_request: 400,
  unauthorized: 401,
  session_expired: 401,
  insufficient_scope: 403,
  wrong_surface: 403,
  policy_blocked: 403,
  rate_limited: 429,
} as const

/** Header fields to put on the answer, in order. Names are given once each. */
export type HeaderFields = readonly (readonly [name: string, value: string])[]

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
export type GuardDenial = Exclude<DenialOf<typeof CODES>, Denial<'invalid_request'>> & {
  readonly headers: HeaderFields
  /** Present as soon as the session is proven. */
  readonly evidence?: Evidence
}

/** A "no" to an amount: a policy blocks it, or it is malformed and `field` names the wrong member. */
export type SpendDenial = DenialOf<Pick<typeof CODES, 'invalid_request' | 'policy_blocked'>> &
  Pick<GuardDenial, 'headers' | 'evidence'>

/** The denial of `parsePolicy`: `field` is the path of the wrong member, such as `limits[0].window`. */
export type PolicyDenial = Denial<'invalid_request'>

/** Makes a denial with the status of its code. */
export const deny: ReturnType<typeof denier<typeof CODES>> = denier(CODES)
