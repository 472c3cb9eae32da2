import { denier, type DenialOf } from '@gatewright/kernel/internal'

/** Denial codes of the operator listener, with their HTTP status. */
const codes = {
  invalid_request: 400,
  unauthorized: 401,
  wrong_host: 403,
  wrong_origin: 403,
  behind_proxy: 403,
  not_found: 404,
  method_not_allowed: 405,
  invalid_state: 409,
} as const

/** A denial of the operator listener. */
export type OperatorDenial = DenialOf<typeof codes>

/** Creates a denial of the operator listener. */
export const deny: ReturnType<typeof denier<typeof codes>> = denier(codes)
