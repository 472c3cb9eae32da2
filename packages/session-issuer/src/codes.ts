import { denier, type Denial, type DenialOf } from '@gatewright/kernel'

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

/** A denial of this package. */
export type IssuerDenial = DenialOf<typeof codes>

/** Makes a denial whose status is the one of its code. */
export const deny: <C extends keyof typeof codes>(
  code: C,
  message: string,
  extras?: Partial<Pick<Denial, 'field' | 'details' | 'reason'>>,
) => Denial<C> = denier(codes)
