import { readFileSync } from 'node:fs'
import { keyDigest, knownOptions, malformedReply, type EpochMs } from '@gatewright/kernel'
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
import type { Reserved, SpendItem, SpendStorage } from './port.ts'
import { collectCounters, keptText, usedCounters, SQL_OPTIONS, type SqlStorageOptions } from './statements.ts'

export { sqlRevocationFeed } from './sql-feed.ts'
export type { SqlFeedOptions } from './sql-feed.ts'
export type { SqlStorageOptions } from './statements.ts'

type Kept = readonly [counter: string, unit: SpendItem['unit'], amount: number]

async function heldText(tx: SqlQueries, table: string, keys: readonly string[]): Promise<string | undefined> {
  const [row] = await rows(tx, `select items from ${table} where account = $1 and hold = $2`, keys)
  return row && toText(row['items'])
}

function readKept(text: string): readonly Kept[] {
  try {
    return JSON.parse(text) as readonly Kept[]
  } catch {
    throw malformedReply('sqlite', 'a hold as JSON')
  }
}

/**
 * Spend counters in the embedded SQLite of one host process: each verb is one `BEGIN IMMEDIATE` transaction.
 * Give it a `tx` (no `transaction` of its own) to reserve together with the business rows.
 */
export function sqliteStorage(db: SqlClient | SqlQueries, options: SqlStorageOptions = {}): SpendStorage {
  const prefix = checkedPrefix(knownOptions('sqliteStorage', options, SQL_OPTIONS).prefix ?? DEFAULT_PREFIX)
  const holds = `${prefix}spend_holds`
  const counters = `${prefix}spend_counters`
  const atomically = <T>(work: (tx: SqlQueries) => Promise<T>): Promise<T> =>
    'transaction' in db ? db.transaction(work) : work(db)

  const add = async (
    tx: SqlQueries,
    account: string,
    hold: string | null,
    items: readonly SpendItem[],
    now: EpochMs,
  ): Promise<void> => {
    const upsert = `insert into ${counters} as c (account, counter, used, expires_at) values ($1, $2, $3, $4)
      on conflict (account, counter) do update set used = c.used + excluded.used`
    for (const { counter, amount, expiresAt } of items) {
      await rows(tx, upsert, [account, keyDigest(counter), amount, expiresAt])
    }
    if (hold === null) return
    const insert = `insert into ${holds} (account, hold, items, held_at) values ($1, $2, $3, $4)`
    await rows(tx, insert, [account, hold, keptText(items), now])
  }

  const end = async (
    tx: SqlQueries,
    keys: readonly [account: string, hold: string],
    kept: readonly Kept[],
    keep: (part: Kept) => number,
  ): Promise<void> => {
    const giveBack = `update ${counters} set used = used - $3 where account = $1 and counter = $2`
    for (const part of kept) await rows(tx, giveBack, [keys[0], part[0], part[2] - keep(part)])
    await rows(tx, `delete from ${holds} where account = $1 and hold = $2`, keys)
  }

  return {
    reserve: (accountId, holdId, items, now) =>
      atomically(async (tx): Promise<Reserved> => {
        const account = keyDigest(accountId)
        const hold = holdId === null ? null : keyDigest(holdId)
        const held = hold === null ? undefined : await heldText(tx, holds, [account, hold])
        if (held !== undefined && held !== keptText(items)) return { outcome: 'conflict' }
        const names = items.map(({ counter }) => counter)
        const before = await usedCounters(tx, prefix, accountId, names)
        if (held !== undefined) return { outcome: 'held', used: before }
        const after = items.map(({ amount }, index) => (before[index] as number) + amount)
        const index = items.findIndex(({ cap }, n) => (after[n] as number) > cap)
        if (index >= 0) return { outcome: 'over', index, used: before[index] as number }
        await add(tx, account, hold, items, now)
        return { outcome: 'held', used: after }
      }),
    settle: (accountId, holdId, actualCents) =>
      atomically(async tx => {
        const keys = [keyDigest(accountId), keyDigest(holdId)] as const
        const held = await heldText(tx, holds, keys)
        if (held === undefined) return 'gone'
        const kept = readKept(held)
        if (kept.some(([, unit, amount]) => unit === 'cents' && actualCents > amount)) return 'exceeds'
        await end(tx, keys, kept, ([, unit, amount]) => (unit === 'cents' ? actualCents : amount))
        return 'settled'
      }),
    release: (accountId, holdId) =>
      atomically(async tx => {
        const keys = [keyDigest(accountId), keyDigest(holdId)] as const
        const held = await heldText(tx, holds, keys)
        if (held !== undefined) await end(tx, keys, readKept(held), () => 0)
        return held !== undefined
      }),
    used: (accountId, names) => usedCounters(db, prefix, accountId, names),
    collect: (limit, now) => collectCounters(db, prefix, limit, now),
  }
}

/** Creates or updates the tables. Repeatable, and safe from many instances at once. */
export async function migrate(db: SqlClient, prefix?: string): Promise<void> {
  const ddl = readFileSync(new URL('../../src/storage/sqlite.sql', import.meta.url), 'utf8')
  await migrateRoom(db, 'sqlite', { namespace: 'spend', versions: readVersions(ddl) }, prefix)
}
