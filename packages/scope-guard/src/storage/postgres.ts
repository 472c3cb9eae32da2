import { keyDigest, malformedReply } from '@gatewright/kernel'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { hasAllFeatures, toText } from '@gatewright/kernel/internal/sql'
import type { StorageOptions } from './options.ts'
import type { SpendStorage } from './port.ts'
import { readReserveReply } from './postgres-encoding.ts'
import { sqlSpends } from './sql-spends.ts'
import { checkedSqlPrefix, deleteExpiredCounters, holdText, counterUsage } from './sql-statements.ts'

export { migrateSpends } from './migrate.ts'
export { sqlRevocationFeed } from './sql-feed.ts'

/** Settles a hold in full: `null` releases it. */
const WHOLE = -1

/**
 * Stores spend counters in Postgres. `migrate` installs the functions that it calls, so each call is one round trip; with
 * `features: 'minimal'` it runs plain statements in a transaction. One lock per account is held to the end of the transaction. Give it a
 * `tx` (an object without `transaction`) to reserve in the same transaction as the business rows.
 */
export function postgresSpends(db: SqlClient | SqlQueries, options: StorageOptions = {}): SpendStorage {
  const prefix = checkedSqlPrefix('postgresSpends', options)
  if (!hasAllFeatures(db)) return sqlSpends(db, prefix)
  const endHold = async (accountId: string, holdId: string, actual: number | null): Promise<string> => {
    const values = [keyDigest(accountId), keyDigest(holdId), actual]
    const [row] = await rows(db, `select ${prefix}spend_resolve($1, $2, $3) as outcome`, values)
    return toText(row?.['outcome'])
  }
  return {
    async reserve(accountId, holdId, items, now) {
      const sent = items.map(({ counter, amount, cap, expiresAt }) => [
        keyDigest(counter),
        amount,
        cap,
        expiresAt,
      ])
      const [row] = await rows(db, `select ${prefix}spend_reserve($1, $2, $3, $4, $5) as reply`, [
        keyDigest(accountId),
        holdId === null ? null : keyDigest(holdId),
        JSON.stringify(sent),
        holdText(items),
        now,
      ])
      return readReserveReply(toText(row?.['reply']), items.length)
    },
    async settle(accountId, holdId, actualCents) {
      const outcome = await endHold(accountId, holdId, actualCents ?? WHOLE)
      if (outcome === 'settled' || outcome === 'gone' || outcome === 'exceeds') return outcome
      throw malformedReply('postgres', 'settled, gone or exceeds')
    },
    async release(accountId, holdId) {
      const outcome = await endHold(accountId, holdId, null)
      if (outcome !== 'settled' && outcome !== 'gone') throw malformedReply('postgres', 'settled or gone')
      return outcome === 'settled'
    },
    usage: (accountId, counters) => counterUsage(db, prefix, accountId, counters),
    collect: (limit, now) => deleteExpiredCounters(db, prefix, limit, now),
  }
}
