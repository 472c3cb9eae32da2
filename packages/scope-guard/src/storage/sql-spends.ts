import { keyDigest, malformedReply } from '@gatewright/kernel'
import { rows, type SqlClient, type SqlQueries, type SqlRow } from '@gatewright/kernel/sql'
import { defer, lockName, upsert } from '@gatewright/kernel/internal/sql'
import { keyWithoutBucket } from './counters.ts'
import type { CounterUsage, ReserveOutcome, SpendItem, SpendStorage } from './port.ts'
import {
  counterUsage,
  currentKey,
  deleteExpiredCounters,
  placesOf,
  readUsage,
  selectCounters,
  storedCounter,
  type StoredCounter,
} from './sql-statements.ts'

/** One item of a stored hold. `series` is a digest; holds that an older version made have none. */
type HeldItem = readonly [counter: string, unit: SpendItem['unit'], amount: number, series?: string]

/** Reads the items of a hold: Postgres sends an array, the others its text. */
function readHold(items: unknown): readonly HeldItem[] {
  let parsed: unknown
  try {
    parsed = typeof items === 'string' ? JSON.parse(items) : items
  } catch {
    parsed = undefined
  }
  if (!Array.isArray(parsed)) throw malformedReply('database', 'a hold as JSON')
  return parsed as readonly HeldItem[]
}

/** Whether a hold has the items of a reservation. One that is repeated in another bucket or window is the same. */
function isSameHold(
  stored: readonly HeldItem[],
  items: readonly SpendItem[],
  counters: readonly StoredCounter[],
): boolean {
  return (
    stored.length === items.length &&
    stored.every(([key, unit, amount, series], index) => {
      const item = items[index] as SpendItem
      const sameCounter = keyWithoutBucket(key) === counters[index]?.digest
      const sameSeries = item.series !== undefined && series === keyDigest(item.series)
      return (sameCounter || sameSeries) && unit === item.unit && amount === item.amount
    })
  )
}

/**
 * Writes the statement that reads the hold `$2` of the account `$1` and its counters. The hold comes first, so that Postgres finds the type
 * of `items` in it.
 */
function reservationRead(
  stores: readonly StoredCounter[],
  { counters, holds }: { readonly counters: string; readonly holds: string },
): ReturnType<typeof selectCounters> {
  const columns = 'counter, used, held, null as items'
  // The database adds buckets up faster than their rows are read. What each has matters only to a denial.
  const summed = 'min(counter) as counter, sum(used) as used, sum(held) as held, null as items'
  const { text, values } = selectCounters(stores, { columns, summed, table: counters, first: 3 })
  const hold = `select hold as counter, 0 as used, 0 as held, items from ${holds} where account = $1 and hold = $2`
  return { text: `${hold} union all ${text}`, values }
}

/** Where the counters of an account are read. */
interface AccountCounters {
  readonly tx: SqlQueries
  readonly prefix: string
  readonly accountId: string
}

/** Makes the outcome of the item at `index`, which would exceed its cap. Reads what each of its buckets has. */
async function over(
  { tx, prefix, accountId }: AccountCounters,
  items: readonly SpendItem[],
  usage: readonly CounterUsage[],
  index: number,
): Promise<ReserveOutcome> {
  const { counter, buckets } = items[index] as SpendItem
  const [exact] = buckets ? await counterUsage(tx, prefix, accountId, [{ counter, buckets }]) : []
  const { used } = usage[index] as CounterUsage
  return { outcome: 'over', index, used, ...(exact?.buckets ? { buckets: exact.buckets } : {}) }
}

/**
 * Stores spend counters by plain statements. `reserve`, `settle` and `release` are one transaction each, or run in the `tx` that is
 * given (an object without `transaction`), with the business rows. The lock of the account travels with the statement that reads, and what is
 * written with the next statement of the transaction or with its commit. The lock is held to the end of the transaction.
 */
export function sqlSpends(db: SqlClient | SqlQueries, prefix: string): SpendStorage {
  const holds = `${prefix}spend_holds`
  const counters = `${prefix}spend_counters`
  const isHold = 'account = $1 and hold = $2'
  const locked = <T>(account: string, work: (tx: SqlQueries) => Promise<T>): Promise<T> => {
    const lockAndWork = async (tx: SqlQueries): Promise<T> => {
      await lockName(tx, prefix, { kind: 'spend', accountId: account })
      return work(tx)
    }
    return 'transaction' in db ? db.transaction(lockAndWork, { lazyBegin: true }) : lockAndWork(db)
  }
  const holdOf = (found: readonly SqlRow[]): readonly HeldItem[] | undefined => {
    const row = found.find(({ items }) => items !== null)
    return row && readHold(row['items'])
  }
  const find = async (tx: SqlQueries, keys: readonly [account: string, hold: string]) =>
    holdOf(await rows(tx, `select items from ${holds} where ${isHold}`, keys))
  const { clause, proposed } = upsert(db, 'account, counter')
  const charge = (count: number): string => {
    const tuples = Array.from({ length: count }, (_, index) => `($1, ${placesOf(4, 2 + 4 * index)})`)
    return `insert into ${counters} (account, counter, used, held, expires_at) values ${tuples.join(', ')}
      ${clause} used = ${counters}.used + ${proposed('used')}, held = ${counters}.held + ${proposed('held')}`
  }
  const giveBack = `update ${counters} set used = used - $3, held = held - $4 where account = $1 and counter = $2`

  const end = async (
    tx: SqlQueries,
    keys: readonly [account: string, hold: string],
    items: readonly HeldItem[],
    keep: (item: HeldItem) => number,
  ): Promise<void> => {
    for (const item of items) await defer(tx, giveBack, [keys[0], item[0], item[2] - keep(item), item[2]])
    await defer(tx, `delete from ${holds} where ${isHold}`, keys)
  }

  return {
    reserve(accountId, holdId, items, now) {
      const account = keyDigest(accountId)
      const hold = holdId === null ? null : keyDigest(holdId)
      const stores = items.map(storedCounter)
      const { text, values } = reservationRead(stores, { counters, holds })
      return locked(account, async (tx): Promise<ReserveOutcome> => {
        const found = await rows(tx, text, [account, hold, ...values])
        const stored = holdOf(found)
        if (stored && !isSameHold(stored, items, stores)) return { outcome: 'conflict' }
        const usage = readUsage(
          stores,
          found.filter(({ items }) => items === null),
        )
        const before = usage.map(({ used }) => used)
        if (stored) return { outcome: 'held', used: before }
        const after = items.map(({ amount }, index) => (before[index] as number) + amount)
        const index = items.findIndex(({ cap }, n) => (after[n] as number) > cap)
        if (index >= 0) return over({ tx, prefix, accountId }, items, usage, index)
        const keys = stores.map(currentKey)
        const charged = items.flatMap(({ amount, expiresAt }, n) => [
          keys[n] as string,
          amount,
          hold === null ? 0 : amount,
          expiresAt,
        ])
        await defer(tx, charge(items.length), [account, ...charged])
        if (hold !== null) {
          const insert = `insert into ${holds} (account, hold, items, held_at) values ($1, $2, $3, $4)`
          const held = items.map(({ unit, amount, series }, n) => [
            keys[n],
            unit,
            amount,
            ...(series === undefined ? [] : [keyDigest(series)]),
          ])
          await defer(tx, insert, [account, hold, JSON.stringify(held), now])
        }
        return { outcome: 'held', used: after }
      })
    },
    settle(accountId, holdId, actualCents) {
      const keys = [keyDigest(accountId), keyDigest(holdId)] as const
      return locked(keys[0], async tx => {
        const stored = await find(tx, keys)
        if (stored === undefined) return 'gone'
        if (stored.some(([, unit, amount]) => unit === 'cents' && (actualCents ?? 0) > amount))
          return 'exceeds'
        await end(tx, keys, stored, ([, unit, amount]) =>
          unit === 'cents' ? (actualCents ?? amount) : amount,
        )
        return 'settled'
      })
    },
    release(accountId, holdId) {
      const keys = [keyDigest(accountId), keyDigest(holdId)] as const
      return locked(keys[0], async tx => {
        const stored = await find(tx, keys)
        if (stored) await end(tx, keys, stored, () => 0)
        return stored !== undefined
      })
    },
    usage: (accountId, names) => counterUsage(db, prefix, accountId, names),
    collect: (limit, now) => deleteExpiredCounters(db, prefix, limit, now),
  }
}
