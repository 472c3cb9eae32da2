import { denier, type DenialOf } from '@gatewright/kernel'

/** Every denial of this package, with its HTTP status. */
export const codes = {
  /** A field of the request is out of its bounds. */
  invalid_request: 400,
  /** No such key, another environment or surface, wrong secret, revoked or past its end: one message for all. */
  unauthorized: 401,
  /** More scopes than the caller holds; `details.scope` names the missing ones. */
  insufficient_scope: 403,
  /** A rule of this package forbids it; `details.rule` names it. */
  policy_blocked: 403,
  /** No such key or session within the caller's sight. */
  not_found: 404,
} as const

/** Every rule that a `policy_blocked` of this package names in `details.rule`. */
export const rules = ['key_authority', 'max_depth', 'max_live_keys', 'already_rotated'] as const
export type IssuerRule = (typeof rules)[number]

/** Every exact cause of an `unauthorized`, for the decision event. */
export const reasons = [
  'not a key of this environment and surface',
  'no such key',
  'wrong secret, or its pepper is gone',
  'revoked',
  'past its end',
  'its key has changed or ended',
  'it has ended',
  'it ends within this second',
  'the parent session was revoked',
] as const
export type IssuerReason = (typeof reasons)[number]

/** A denial of this package. */
export type IssuerDenial = DenialOf<typeof codes>

/** Makes a denial whose status is the one of its code. */
export const deny: ReturnType<typeof denier<typeof codes, IssuerRule, IssuerReason>> = denier(codes)
