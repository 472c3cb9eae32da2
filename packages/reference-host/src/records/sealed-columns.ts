/** A column that holds a sealed text. Its owner is the account of the row: `account_id`. */
export interface SealedColumn {
  readonly table: string
  readonly column: string
  /** What the text is sealed for: see `Sealer`. */
  readonly purpose: string
}

/**
 * Every sealed column. Modules seal and open with the purpose given here, and `data-keys rewrap` goes through all of
 * them: a column that is missing here keeps its old key, and cannot be read any more when that key is dropped.
 */
export const sealedColumns = {
  profile: { table: 'gw_users', column: 'profile', purpose: 'profile' },
  dataKey: { table: 'gw_users', column: 'data_key', purpose: 'data key' },
  kycFields: { table: 'gw_kyc_applications', column: 'fields', purpose: 'kyc application' },
} as const satisfies Readonly<Record<string, SealedColumn>>
