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

/** Every rule that a `policy_blocked` of the host itself names in `details.rule`. */
export const rules = ['max_unpaid_addresses', 'max_unpaid_addresses_of_client'] as const
export type HostRule = (typeof rules)[number]

/** What the host refuses with. */
export type HostDenial = DenialOf<typeof codes>

/** Makes a denial of the host. */
export const deny: ReturnType<typeof denier<typeof codes, HostRule>> = denier(codes)
