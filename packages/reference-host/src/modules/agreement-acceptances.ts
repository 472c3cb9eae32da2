import { createHash } from 'node:crypto'
import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import type { Agreement } from '../product/product.ts'

/**
 * Records which accounts have accepted the agreements of the product. An account accepts all of them together, with their
 * current texts.
 */
export interface AgreementAcceptances {
  /** Returns when the account accepted the current texts; undefined if it has not. If there are no agreements, returns 0. */
  acceptedAt(db: SqlQueries, accountId: string): Promise<EpochMs | undefined>
  /** Records an acceptance; a second one changes nothing. */
  accept(
    db: SqlQueries,
    by: { readonly accountId: string; readonly keyId: string },
    now: EpochMs,
  ): Promise<void>
}

/** Acceptances in SQL. Changed texts have another digest, so that they must be accepted again. */
export function agreementAcceptances(agreements: readonly Agreement[]): AgreementAcceptances {
  const digest = createHash('sha256').update(JSON.stringify(agreements)).digest('base64url')
  return {
    async acceptedAt(db, accountId) {
      if (agreements.length === 0) return 0
      const text = 'select accepted_at from gw_agreement_acceptances where account_id = $1 and digest = $2'
      const [row] = await rows(db, text, [accountId, digest])
      return row && toInteger(row['accepted_at'])
    },
    async accept(db, { accountId, keyId }, now) {
      const text = `insert into gw_agreement_acceptances (account_id, digest, key_id, accepted_at)
        values ($1, $2, $3, $4) on conflict (account_id, digest) do nothing`
      await rows(db, text, [accountId, digest, keyId, now])
    },
  }
}
