import { denier, type DenialOf } from '@gatewright/kernel'

/** Denial codes of the host itself, with their HTTP status (docs/errors.md). */
export const codes = {
  invalid_request: 400,
  unauthorized: 401,
  invalid_signature: 401,
  insufficient_scope: 403,
  policy_blocked: 403,
  key_not_validated: 403,
  https_required: 403,
  not_found: 404,
  challenge_not_found: 404,
  method_not_allowed: 405,
  invalid_state: 409,
} as const

/** Every `details.rule` with which the host itself denies as `policy_blocked`. */
export const rules = [
  'max_unpaid_addresses',
  'max_unpaid_addresses_of_client',
  'account_locked',
  'kyc_required',
  'agreements_required',
  'data_key_never_leaves',
  'cross_origin',
  'max_contracts',
  'max_bills',
  'card_above_caller',
  'max_cards',
  'max_folders',
  'max_deposits',
  'max_withdrawals',
  'max_payins',
] as const
export type HostRule = (typeof rules)[number]

/** A denial of the host. */
export type HostDenial = DenialOf<typeof codes>

/** Creates a denial of the host. */
export const deny: ReturnType<typeof denier<typeof codes, HostRule>> = denier(codes)
