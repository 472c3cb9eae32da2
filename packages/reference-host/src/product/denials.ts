import { denier } from '@gatewright/kernel/internal'
import { codes } from '@gatewright/host'

/** Every `details.rule` with which this product denies as `policy_blocked`. */
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
  'approved_key',
  'max_cards',
  'max_folders',
  'max_deposits',
  'max_withdrawals',
  'max_payins',
] as const
export type ProductRule = (typeof rules)[number]

/** Creates a denial of a host of this product. */
export const deny: ReturnType<typeof denier<typeof codes, ProductRule>> = denier(codes)
