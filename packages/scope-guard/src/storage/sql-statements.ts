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
import { bucketKey, bucketOf, counterParts, keyWithoutBucket, rollingUsage } from './counters.ts'
import type { Buckets, Counter, CounterUsage, SpendItem } from './port.ts'

/** Checks the options of an SQL adapter, and returns the prefix. Throws a `TypeError` for a wrong one. */
export function checkedSqlPrefix(where: string, options: StorageOptions): string {
  return checkedPrefix(checkOptions(where, options, { prefix: { default: DEFAULT_PREFIX } }).prefix)
}

/** `$3, $4, ...` for so many values. */
export const placesOf = (count: number, first: number): string =>
  Array.from({ length: count }, (_, index) => `$${first + index}`).join(', ')

/** A counter as its rows name it: by its digest, those of a counter that rolls with the number of a bucket. */
export interface StoredCounter {
  readonly digest: string
  readonly buckets: Buckets | undefined
}

/** Returns the key of the row that an amount is added to. */
export function currentKey({ digest, buckets }: StoredCounter): string {
  return buckets === undefined ? digest : bucketKey(digest, buckets.current)
}

/** Returns how rows name a counter. */
export function storedCounter({ counter, buckets }: Pick<SpendItem, 'counter' | 'buckets'>): StoredCounter {
  return { digest: keyDigest(counter), buckets }
}

/** What is read of counters. `summed` replaces `columns` for a counter that rolls, where its buckets are read as one row. */
interface CounterColumns {
  readonly columns: string
  readonly summed?: string
  readonly table: string
  readonly first: number
}

/**
 * Writes the part of a statement that reads the rows of counters of the account `$1`: `columns` of the table. The buckets of a counter
 * are beside each other in the primary key. Its values are given from the place `first` on.
 */
export function selectCounters(
  counters: readonly StoredCounter[],
  { columns, summed = columns, table, first }: CounterColumns,
): { readonly text: string; readonly values: readonly string[] } {
  const plain = counters.filter(({ buckets }) => buckets === undefined).map(({ digest }) => digest)
  const values = [...plain]
  const select = (what: string, condition: string): string =>
    `select ${what} from ${table} where account = $1 and ${condition}`
  const parts = plain.length === 0 ? [] : [select(columns, `counter in (${placesOf(plain.length, first)})`)]
  for (const { digest, buckets } of counters) {
    if (buckets === undefined) continue
    const place = first + values.length
    const some = summed === columns ? '' : ' having count(*) > 0'
    parts.push(select(summed, `counter between $${place} and $${place + 1}${some}`))
    values.push(bucketKey(digest, buckets.oldest), bucketKey(digest, buckets.newest))
  }
  return { text: parts.join(' union all '), values }
}

/** Implements `SpendStorage.usage` in one statement: the usage of each counter in the order given, zeros if it has no row. */
export async function counterUsage(
  db: SqlQueries,
  prefix: string,
  accountId: string,
  counters: readonly Counter[],
): Promise<CounterUsage[]> {
  if (counters.length === 0) return []
  const stored = counters.map(counterParts).map(storedCounter)
  const table = `${prefix}spend_counters`
  const { text, values } = selectCounters(stored, { columns: 'counter, used, held', table, first: 2 })
  return readUsage(stored, await rows(db, text, [keyDigest(accountId), ...values]))
}

/** Reads rows of counters: the usage of each counter in the order given, zeros if it has no row. */
export function readUsage(counters: readonly StoredCounter[], found: readonly SqlRow[]): CounterUsage[] {
  const usage = new Map<string, CounterUsage>()
  const buckets = new Map<string, { bucket: number; used: number; held: number }[]>()
  for (const row of found) {
    const [key, used, held] = [toText(row['counter']), toInteger(row['used']), toInteger(row['held'])]
    const digest = keyWithoutBucket(key)
    if (digest === key) usage.set(key, { used, held })
    else {
      const bucket = { bucket: bucketOf(key), used, held }
      const known = buckets.get(digest)
      if (known) known.push(bucket)
      else buckets.set(digest, [bucket])
    }
  }
  return counters.map(({ digest, buckets: isRolling }) =>
    isRolling
      ? rollingUsage((buckets.get(digest) ?? []).sort((one, other) => one.bucket - other.bucket))
      : (usage.get(digest) ?? { used: 0, held: 0 }),
  )
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
