/** A column with sealed texts. */
export interface SealedColumn {
  readonly table: string
  readonly column: string
  /** The column with the owner of each text, which no two rows share. Default: `account_id`. */
  readonly owner?: string
  /** The purpose that the texts are sealed for. See `Sealer`. */
  readonly purpose: string
}

/**
 * All sealed columns. Modules use the purposes given here, and `data-keys rewrap` encrypts every column of this list again. A
 * column that is not listed keeps its old key, and becomes unreadable when the operator removes that key.
 */
export const sealedColumns = {
  profile: { table: 'gw_users', column: 'profile', purpose: 'profile' },
  dataKey: { table: 'gw_users', column: 'data_key', purpose: 'data key' },
  kycFields: { table: 'gw_kyc_applications', column: 'fields', purpose: 'kyc application' },
  webhookSecret: { table: 'gw_webhook_endpoints', column: 'secret', purpose: 'webhook secret', owner: 'id' },
  previousWebhookSecret: {
    table: 'gw_webhook_endpoints',
    column: 'previous_secret',
    purpose: 'webhook secret',
    owner: 'id',
  },
} as const satisfies Readonly<Record<string, SealedColumn>>
