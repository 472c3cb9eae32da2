import { readFileSync } from 'node:fs'
import { keyDigest, knownOptions, malformedReply } from '@gatewright/kernel'
import {
  checkedPrefix,
  DEFAULT_PREFIX,
  migrate as migrateRoom,
  readVersions,
  rows,
  toText,
  type SqlClient,
  type SqlQueries,
} from '@gatewright/kernel/sql'
import type { Reserved, SpendStorage } from './port.ts'
import { collectCounters, keptText, usedCounters, SQL_OPTIONS, type SqlStorageOptions } from './statements.ts'

export { sqlRevocationFeed } from './sql-feed.ts'
export type { SqlFeedOptions } from './sql-feed.ts'
export type { SqlStorageOptions } from './statements.ts'

/** Reads the function's answer, which is JSON text. */
function readReserved(text: string, items: number): Reserved {
  let reply: unknown
  try {
    reply = JSON.parse(text)
  } catch {
    throw malformedReply('postgres', 'JSON')
  }
  const [outcome, first, second] = Array.isArray(reply) ? (reply as unknown[]) : []
  if (outcome === 'conflict') return { outcome }
  if (
    outcome === 'held' &&
    Array.isArray(first) &&
    first.length === items &&
    first.every(Number.isSafeInteger)
  ) {
    return { outcome, used: first as number[] }
  }
  if (outcome === 'over' && Number.isSafeInteger(first) && Number.isSafeInteger(second)) {
    return { outcome, index: first as number, used: second as number }
  }
  throw malformedReply('postgres', 'held, over or conflict')
}

/**
 * Spend counters in Postgres: an installed function per verb, so one round trip, and one lock per account, held
 * to the end of the transaction. Give it a `tx` to reserve in the same transaction as the business rows.
 */
export function postgresStorage(db: SqlQueries, options: SqlStorageOptions = {}): SpendStorage {
  const prefix = checkedPrefix(knownOptions('postgresStorage', options, SQL_OPTIONS).prefix ?? DEFAULT_PREFIX)
  const resolve = async (accountId: string, holdId: string, actual: number | null): Promise<string> => {
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
        keptText(items),
        now,
      ])
      return readReserved(toText(row?.['reply']), items.length)
    },
    async settle(accountId, holdId, actualCents) {
      const outcome = await resolve(accountId, holdId, actualCents)
      if (outcome === 'settled' || outcome === 'gone' || outcome === 'exceeds') return outcome
      throw malformedReply('postgres', 'settled, gone or exceeds')
    },
    async release(accountId, holdId) {
      const outcome = await resolve(accountId, holdId, null)
      if (outcome !== 'settled' && outcome !== 'gone') throw malformedReply('postgres', 'settled or gone')
      return outcome === 'settled'
    },
    used: (accountId, counters) => usedCounters(db, prefix, accountId, counters),
    collect: (limit, now) => collectCounters(db, prefix, limit, now),
  }
}

/** Creates or updates tables and functions. Repeatable, and safe from many instances at once. */
export async function migrate(db: SqlClient, prefix?: string): Promise<void> {
  const ddl = readFileSync(new URL('../../src/storage/postgres.sql', import.meta.url), 'utf8')
  await migrateRoom(db, 'postgres', { namespace: 'spend', versions: readVersions(ddl) }, prefix)
}
