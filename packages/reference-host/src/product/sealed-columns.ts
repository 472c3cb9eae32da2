import type { SealedColumn } from '@gatewright/host'

/**
 * All sealed columns. Modules seal and open with the purpose given here, and `data-keys rewrap` reseals every column in this list.
 * A column that is missing here stays under its old key, and becomes unreadable when the operator drops that key.
 */
export const sealedColumns = {
  profile: { table: 'gw_users', column: 'profile', purpose: 'profile' },
  dataKey: { table: 'gw_users', column: 'data_key', purpose: 'data key' },
  kycFields: { table: 'gw_kyc_applications', column: 'fields', purpose: 'kyc application' },
} as const satisfies Readonly<Record<string, SealedColumn>>
