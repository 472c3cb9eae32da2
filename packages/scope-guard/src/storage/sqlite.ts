import { keyDigest, malformedReply } from '@gatewright/kernel'
import type { EpochMs } from '@gatewright/kernel/internal'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { toText } from '@gatewright/kernel/internal/sql'
import type { StorageOptions } from './options.ts'
import type { ReserveOutcome, SpendItem, SpendStorage } from './port.ts'
import { checkedSqlPrefix, deleteExpiredCounters, counterUsage, holdText } from './sql-statements.ts'

export { migrateSpends } from './migrate.ts'
export { sqlRevocationFeed } from './sql-feed.ts'

/** One item of a stored hold. */
type HeldItem = readonly [counter: string, unit: SpendItem['unit'], amount: number]

async function storedHold(
  tx: SqlQueries,
  table: string,
  keys: readonly string[],
): Promise<string | undefined> {
  const [row] = await rows(tx, `select items from ${table} where account = $1 and hold = $2`, keys)
  return row && toText(row['items'])
}

function readHold(text: string): readonly HeldItem[] {
  try {
    return JSON.parse(text) as readonly HeldItem[]
  } catch {
    throw malformedReply('sqlite', 'a hold as JSON')
  }
}

/**
 * Stores spend counters in the embedded SQLite database of one host process. `reserve`, `settle` and `release` are one
 * `BEGIN IMMEDIATE` transaction each, or run in the `tx` that you pass (an object without `transaction`), with the business
 * rows.
 */
export function sqliteSpends(db: SqlClient | SqlQueries, options: StorageOptions = {}): SpendStorage {
  const prefix = checkedSqlPrefix('sqliteSpends', options)
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
    // `where true`: without it SQLite would read `on conflict` as a join condition.
    const upsert = `insert into ${counters} as c (account, counter, used, held, expires_at)
      select $1, json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'), json_extract(value, '$[3]')
      from json_each($2) where true
      on conflict (account, counter) do update set used = c.used + excluded.used, held = c.held + excluded.held`
    const added = items.map(({ counter, amount, expiresAt }) => [
      keyDigest(counter),
      amount,
      hold === null ? 0 : amount,
      expiresAt,
    ])
    await rows(tx, upsert, [account, JSON.stringify(added)])
    if (hold === null) return
    const insert = `insert into ${holds} (account, hold, items, held_at) values ($1, $2, $3, $4)`
    await rows(tx, insert, [account, hold, holdText(items), now])
  }

  const endHold = async (
    tx: SqlQueries,
    keys: readonly [account: string, hold: string],
    items: readonly HeldItem[],
    keep: (item: HeldItem) => number,
  ): Promise<void> => {
    const giveBack = `update ${counters} set used = used - $3, held = held - $4 where account = $1 and counter = $2`
    for (const item of items) await rows(tx, giveBack, [keys[0], item[0], item[2] - keep(item), item[2]])
    await rows(tx, `delete from ${holds} where account = $1 and hold = $2`, keys)
  }

  return {
    reserve: (accountId, holdId, items, now) =>
      atomically(async (tx): Promise<ReserveOutcome> => {
        const account = keyDigest(accountId)
        const hold = holdId === null ? null : keyDigest(holdId)
        const storedItems = hold === null ? undefined : await storedHold(tx, holds, [account, hold])
        if (storedItems !== undefined && storedItems !== holdText(items)) return { outcome: 'conflict' }
        const names = items.map(({ counter }) => counter)
        const before = (await counterUsage(tx, prefix, accountId, names)).map(({ used }) => used)
        if (storedItems !== undefined) return { outcome: 'held', used: before }
        const after = items.map(({ amount }, index) => (before[index] as number) + amount)
        const index = items.findIndex(({ cap }, n) => (after[n] as number) > cap)
        if (index >= 0) return { outcome: 'over', index, used: before[index] as number }
        await add(tx, account, hold, items, now)
        return { outcome: 'held', used: after }
      }),
    settle: (accountId, holdId, actualCents) =>
      atomically(async tx => {
        const keys = [keyDigest(accountId), keyDigest(holdId)] as const
        const storedItems = await storedHold(tx, holds, keys)
        if (storedItems === undefined) return 'gone'
        const items = readHold(storedItems)
        if (items.some(([, unit, amount]) => unit === 'cents' && (actualCents ?? 0) > amount))
          return 'exceeds'
        await endHold(tx, keys, items, ([, unit, amount]) =>
          unit === 'cents' ? (actualCents ?? amount) : amount,
        )
        return 'settled'
      }),
    release: (accountId, holdId) =>
      atomically(async tx => {
        const keys = [keyDigest(accountId), keyDigest(holdId)] as const
        const storedItems = await storedHold(tx, holds, keys)
        if (storedItems !== undefined) await endHold(tx, keys, readHold(storedItems), () => 0)
        return storedItems !== undefined
      }),
    usage: (accountId, names) => counterUsage(db, prefix, accountId, names),
    collect: (limit, now) => deleteExpiredCounters(db, prefix, limit, now),
  }
}
