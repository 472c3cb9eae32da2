import { denier, type DenialOf } from '@gatewright/kernel/internal'

/** Denial codes of the host itself, with their HTTP status (docs/errors.md). */
export const codes = {
  invalid_request: 400,
  insufficient_balance: 400,
  unauthorized: 401,
  invalid_signature: 401,
  insufficient_scope: 403,
  policy_blocked: 403,
  key_not_validated: 403,
  key_held: 403,
  https_required: 403,
  not_found: 404,
  challenge_not_found: 404,
  payee_not_found: 404,
  method_not_allowed: 405,
  invalid_state: 409,
} as const

/** A denial of the host. */
export type HostDenial = DenialOf<typeof codes>

/** Creates a denial of the host. */
export const deny: ReturnType<typeof denier<typeof codes, string>> = denier(codes)
