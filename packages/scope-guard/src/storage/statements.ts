import { GRACE_MS, keyDigest, type EpochMs, type OptionNames } from '@gatewright/kernel'
import { rows, toInteger, toText, type SqlQueries } from '@gatewright/kernel/sql'
import type { SpendItem } from './port.ts'

/** Options of the SQL adapters. */
export interface SqlStorageOptions {
  /** Prefix of the tables, as given to `migrate`. Default `gw_`. */
  readonly prefix?: string
}

/** Their names. */
export const SQL_OPTIONS: OptionNames<SqlStorageOptions> = { prefix: true }

/** What a hold keeps of its items: counter digest, unit, amount. Equal items give equal text. */
export function keptText(items: readonly SpendItem[]): string {
  return JSON.stringify(items.map(({ counter, unit, amount }) => [keyDigest(counter), unit, amount]))
}

/** `used`, in one statement that reads the same on Postgres and SQLite. */
export async function usedCounters(
  db: SqlQueries,
  prefix: string,
  accountId: string,
  counters: readonly string[],
): Promise<number[]> {
  if (counters.length === 0) return []
  const digests = counters.map(keyDigest)
  const places = digests.map((_, index) => `$${index + 2}`).join(', ')
  const found = await rows(
    db,
    `select counter, used from ${prefix}spend_counters where account = $1 and counter in (${places})`,
    [keyDigest(accountId), ...digests],
  )
  const used = new Map(found.map(row => [toText(row['counter']), toInteger(row['used'])]))
  return digests.map(digest => used.get(digest) ?? 0)
}

/** `collect`, in one statement. */
export async function collectCounters(
  db: SqlQueries,
  prefix: string,
  limit: number,
  now: EpochMs,
): Promise<number> {
  const table = `${prefix}spend_counters`
  const gone = await rows(
    db,
    `delete from ${table} where (account, counter) in
      (select account, counter from ${table} where expires_at <= $1 order by expires_at limit $2)
      returning 1 as gone`,
    [now - GRACE_MS, limit],
  )
  return gone.length
}
