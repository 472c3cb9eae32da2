import { denier, type DenialOf } from '@gatewright/kernel/internal'

/** Every denial of this package, with its HTTP status. */
export const codes = {
  /** A field of the request is malformed or out of bounds. */
  invalid_request: 400,
  /** Unknown key, wrong environment or surface, wrong secret, revoked or expired: one message for all of them. */
  unauthorized: 401,
  /** More scopes than the caller holds; `details.scope` names the missing ones. */
  insufficient_scope: 403,
  /** A rule of this package forbids the request; `details.rule` names it. */
  policy_blocked: 403,
  /** No such key or session, or the caller may not see it. */
  not_found: 404,
} as const

/** Every rule that a `policy_blocked` of this package can name in `details.rule`. */
export const rules = ['key_authority', 'max_depth', 'max_live_keys', 'already_rotated', 'key_paused'] as const
type IssuerRule = (typeof rules)[number]

/** Every exact cause of an `unauthorized`, for the decision event. */
export const reasons = [
  'not a key of this environment and surface',
  'no such key',
  'wrong secret, or its pepper was removed',
  'revoked',
  'the key has expired',
  'its key has changed or ended',
  'the key or session has ended',
  'the session would end within this second',
  'the parent session was revoked',
] as const
export type IssuerReason = (typeof reasons)[number]

/** A denial of this package. */
export type IssuerDenial = DenialOf<typeof codes>

/** Makes a denial with the status of its code. */
export const deny: ReturnType<typeof denier<typeof codes, IssuerRule, IssuerReason>> = denier(codes)
