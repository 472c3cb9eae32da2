import { denier, type DenialOf } from '@gatewright/kernel'

/** Denials that the host itself makes, with their HTTP status (contract section 2). */
export const codes = {
  invalid_request: 400,
  unauthorized: 401,
  insufficient_scope: 403,
  policy_blocked: 403,
  key_not_validated: 403,
  https_required: 403,
  not_found: 404,
  method_not_allowed: 405,
  invalid_state: 409,
} as const

/** What the host refuses with. */
export type HostDenial = DenialOf<typeof codes>

/** Makes a denial of the host. */
export const deny: ReturnType<typeof denier<typeof codes>> = denier(codes)
