import { GRACE_MS, keyDigest, type EpochMs } from '@gatewright/kernel'
import { checkOptions } from '@gatewright/kernel/internal'
import { rows, type SqlQueries, type SqlRow } from '@gatewright/kernel/sql'
import {
  affected,
  checkedPrefix,
  DEFAULT_PREFIX,
  takesDue,
  toInteger,
  toText,
} from '@gatewright/kernel/internal/sql'
import type { StorageOptions } from './options.ts'
import type { CounterUsage, SpendItem } from './port.ts'

/** Checks the options of an SQL adapter, and returns the prefix. Throws a `TypeError` for a wrong one. */
export function checkedSqlPrefix(where: string, options: StorageOptions): string {
  return checkedPrefix(checkOptions(where, options, { prefix: { default: DEFAULT_PREFIX } }).prefix)
}

/** Encodes the items of a hold for its row. A repeated reservation is recognised by its equal text. */
export function holdText(items: readonly SpendItem[]): string {
  return JSON.stringify(heldItems(items))
}

/** The items of a hold as they are stored: counter digest, unit, amount. */
export function heldItems(
  items: readonly SpendItem[],
): readonly (readonly [counter: string, unit: SpendItem['unit'], amount: number])[] {
  return items.map(({ counter, unit, amount }) => [keyDigest(counter), unit, amount])
}

/** `$3, $4, ...` for so many values. */
export const placesOf = (count: number, first: number): string =>
  Array.from({ length: count }, (_, index) => `$${first + index}`).join(', ')

/** Implements `SpendStorage.usage` in one statement: the usage of each counter in the order given, zeros if it has no row. */
export async function counterUsage(
  db: SqlQueries,
  prefix: string,
  accountId: string,
  counters: readonly string[],
): Promise<CounterUsage[]> {
  if (counters.length === 0) return []
  const digests = counters.map(keyDigest)
  const found = await rows(
    db,
    `select counter, used, held from ${prefix}spend_counters where account = $1 and counter in (${placesOf(digests.length, 2)})`,
    [keyDigest(accountId), ...digests],
  )
  return readUsage(digests, found)
}

/** Reads rows of counters: the usage of each counter in the order given, zeros if it has no row. */
export function readUsage(digests: readonly string[], found: readonly SqlRow[]): CounterUsage[] {
  const usage = new Map(
    found.map(row => [
      toText(row['counter']),
      { used: toInteger(row['used']), held: toInteger(row['held']) },
    ]),
  )
  return digests.map(digest => usage.get(digest) ?? { used: 0, held: 0 })
}

/**
 * Implements `SpendStorage.collect` in one statement: deletes the counters that expired first, and returns how many.
 */
export async function deleteExpiredCounters(
  db: SqlQueries,
  prefix: string,
  limit: number,
  now: EpochMs,
): Promise<number> {
  const table = `${prefix}spend_counters`
  const values = [now - GRACE_MS, limit]
  if (db.dialect === 'mariadb')
    return affected(db, `delete from ${table} where expires_at <= $1 order by expires_at limit $2`, values)
  const due = 'expires_at <= $1'
  const taken = await takesDue(db, { table, key: 'account, counter', due, order: 'expires_at', limit: '$2' })
  return (await rows(db, `delete from ${table} where ${taken} returning 1 as deleted`, values)).length
}
