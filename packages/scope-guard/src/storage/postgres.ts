import { keyDigest, malformedReply } from '@gatewright/kernel'
import { checkOptions } from '@gatewright/kernel/internal'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { checkedPrefix, DEFAULT_PREFIX, hasAllFeatures, toText } from '@gatewright/kernel/internal/sql'
import { checkedEscrow, type PostgresSpendsOptions } from './options.ts'
import type { SettleOutcome, SpendStorage } from './port.ts'
import { readEndOutcome, readReserveReply } from './postgres-encoding.ts'
import { collectCounters, slicedSpends } from './postgres-slices.ts'
import { sqlSpends } from './sql-spends.ts'
import { counterUsage, holdText } from './sql-statements.ts'

export { migrateSpends } from './migrate.ts'
export { sqlRevocationFeed } from './sql-feed.ts'

/** Settles a hold in full: `null` releases it. */
const WHOLE = -1

/**
 * Stores spend counters in Postgres. `migrate` installs the functions that it calls, so each call is one round trip; with
 * `features: 'minimal'` it runs plain statements in a transaction. One lock per account is held to the end of the transaction. Give it a
 * `tx` (an object without `transaction`) to reserve in the same transaction as the business rows.
 */
export function postgresSpends(
  db: SqlClient | SqlQueries,
  options: PostgresSpendsOptions = {},
): SpendStorage {
  const { escrow, ...checked } = checkOptions('postgresSpends', options, {
    prefix: { default: DEFAULT_PREFIX },
    escrow: true,
  })
  const prefix = checkedPrefix(checked.prefix)
  const slices = escrow === undefined ? undefined : checkedEscrow('postgresSpends escrow', escrow)
  if (slices && !hasAllFeatures(db))
    throw new TypeError(
      "postgresSpends: escrow calls functions in the database, which features: 'minimal' does not create. Leave one of them out",
    )
  if (!hasAllFeatures(db)) return sqlSpends(db, prefix)
  if (slices && !('transaction' in db))
    throw new TypeError(
      'postgresSpends: escrow must not be set for an open transaction: a slice would stay locked until it ends. Leave it out there',
    )
  const endHold = async (
    accountId: string,
    holdId: string,
    actual: number | null,
  ): Promise<SettleOutcome> => {
    const values = [keyDigest(accountId), keyDigest(holdId), actual]
    const [row] = await rows(db, `select ${prefix}spend_resolve($1, $2, $3) as outcome`, values)
    return readEndOutcome(row?.['outcome'])
  }
  const storage: SpendStorage = {
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
    settle: (accountId, holdId, actualCents) => endHold(accountId, holdId, actualCents ?? WHOLE),
    async release(accountId, holdId) {
      const outcome = await endHold(accountId, holdId, null)
      if (outcome === 'exceeds') throw malformedReply('postgres', 'settled or gone')
      return outcome === 'settled'
    },
    usage: (accountId, counters) => counterUsage(db, prefix, accountId, counters),
    collect: (limit, now) => collectCounters(db, prefix, limit, now),
  }
  return slices ? slicedSpends(db as SqlClient, prefix, storage, slices) : storage
}
