import { keyDigest, malformedReply } from '@gatewright/kernel'
import { batch, type EpochMs } from '@gatewright/kernel/internal'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { assertOutsideTransactionScope, toInteger, toText } from '@gatewright/kernel/internal/sql'
import { LRUCache } from '#platform/lru'
import type { CheckedEscrow } from './options.ts'
import type { CounterUsage, ReserveOutcome, SettleOutcome, SpendItem, SpendStorage } from './port.ts'
import { readEndOutcome, readJson, readReserveOutcome } from './postgres-encoding.ts'
import { deleteExpiredCounters, heldItems, readUsage } from './sql-statements.ts'

/** Calls per statement. The rows of a statement stay locked until all of its calls are done. */
const BATCH_SIZE = 256
/** If the statement of an account does not end for this long, its calls are sent one by one. */
const STALLED_MS = 1000
/** How many accounts have a queue of calls at once. An account beyond that gets a new one, which costs a statement more. */
const MOST_QUEUES = 10_000
/** Settles a hold in full: `null` releases it. */
const WHOLE = -1

/** A reservation or the end of a hold, of one account, with the digests of its names. */
type Call =
  | { readonly hold: string; readonly actual: number | null }
  | { readonly hold: string | null; readonly items: readonly SpendItem[]; readonly now: EpochMs }
type Outcome = ReserveOutcome | SettleOutcome

/**
 * Counts reservations of caps of at least `leastCap` in slices of this host: `spend_by_slices` takes money from the slice, whose row no
 * other host waits for. Calls of one account share a statement, so that its slices have one writer. Accounts without such a reservation
 * use the `plain` storage. Both may count one account at the same time.
 */
export function slicedSpends(
  db: SqlClient,
  prefix: string,
  plain: SpendStorage,
  escrow: CheckedEscrow,
): SpendStorage {
  const host = crypto.randomUUID()
  const queues = new LRUCache<string, (call: Call) => Promise<Outcome>>({ maxSize: MOST_QUEUES })
  const openQueue = (account: string): ((call: Call) => Promise<Outcome>) => {
    const sendBatch = (calls: readonly Call[]): Promise<readonly Outcome[]> =>
      sendCalls(db, prefix, { account, host, escrow }, calls)
    const sendSingle = async (call: Call): Promise<Outcome> => (await sendBatch([call]))[0] as Outcome
    const send = batch(BATCH_SIZE, { sendSingle, sendBatch }, { maxInFlight: 1, stalledMs: STALLED_MS })
    queues.set(account, send, { size: 1 })
    return send
  }
  const end = (accountId: string, holdId: string, actual: number | null): Promise<Outcome> | undefined =>
    queues.get(keyDigest(accountId))?.({ hold: keyDigest(holdId), actual })
  return {
    async reserve(accountId, holdId, items, now) {
      assertOutsideTransactionScope(db)
      const account = keyDigest(accountId)
      const isLarge = items.some(({ cap }) => cap >= escrow.leastCap)
      const send = queues.get(account) ?? (isLarge ? openQueue(account) : undefined)
      if (!send) return plain.reserve(accountId, holdId, items, now)
      const hold = holdId === null ? null : keyDigest(holdId)
      return (await send({ hold, items, now })) as ReserveOutcome
    },
    async settle(accountId, holdId, actualCents) {
      assertOutsideTransactionScope(db)
      const ended = end(accountId, holdId, actualCents ?? WHOLE)
      return ended ? ((await ended) as SettleOutcome) : plain.settle(accountId, holdId, actualCents)
    },
    async release(accountId, holdId) {
      assertOutsideTransactionScope(db)
      const ended = end(accountId, holdId, null)
      return ended ? (await ended) === 'settled' : plain.release(accountId, holdId)
    },
    usage: (accountId, counters) => usageOutsideSlice(db, prefix, host, accountId, counters),
    collect: plain.collect,
  }
}

/** Sends calls of one account in one statement. Resolves to their outcomes in the same order. */
async function sendCalls(
  db: SqlClient,
  prefix: string,
  { account, host, escrow }: { account: string; host: string; escrow: CheckedEscrow },
  calls: readonly Call[],
): Promise<readonly Outcome[]> {
  const ends = calls.flatMap(call => ('items' in call ? [] : [call]))
  const reserves = calls.flatMap(call => ('items' in call ? [call] : []))
  // Holds are added in this order, so that statements of two hosts with the same ids cannot deadlock.
  reserves.sort((a, b) => ((a.hold ?? '') < (b.hold ?? '') ? -1 : 1))
  const [row] = await rows(db, `select ${prefix}spend_by_slices($1, $2, $3, $4, $5, $6, $7, $8) as reply`, [
    account,
    host,
    JSON.stringify(ends.map(({ hold, actual }) => [hold, actual])),
    JSON.stringify(reserves.map(({ hold, items }) => [hold, sentItems(items), heldItems(items)])),
    Math.max(0, ...reserves.map(({ now }) => now)),
    escrow.leastCap,
    escrow.sharePercent,
    1000 * escrow.leaseSeconds,
  ])
  const reply = readJson(toText(row?.['reply']))
  const [ended, reserved] = Array.isArray(reply) ? (reply as unknown[]) : []
  if (!isListOf(ended, ends.length) || !isListOf(reserved, reserves.length))
    throw malformedReply('postgres', 'an outcome of each call')
  const outcomes = new Map<Call, Outcome>()
  for (const [index, call] of ends.entries()) outcomes.set(call, readEndOutcome(ended[index]))
  for (const [index, call] of reserves.entries())
    outcomes.set(call, readReserveOutcome(reserved[index], call.items.length))
  return calls.map(call => outcomes.get(call) as Outcome)
}

const isListOf = (value: unknown, length: number): value is readonly unknown[] =>
  Array.isArray(value) && value.length === length

const sentItems = (items: readonly SpendItem[]): readonly unknown[] =>
  items.map(({ counter, unit, amount, cap, expiresAt }) => [keyDigest(counter), unit, amount, cap, expiresAt])

/**
 * Implements `SpendStorage.usage` for one host: what its slice has not spent is not used, and slices of other hosts are held. What is
 * settled through a slice is not held.
 */
async function usageOutsideSlice(
  db: SqlQueries,
  prefix: string,
  host: string,
  accountId: string,
  counters: readonly string[],
): Promise<CounterUsage[]> {
  if (counters.length === 0) return []
  const digests = counters.map(keyDigest)
  const found = await rows(
    db,
    `select c.counter, c.used - s.own as used, c.held - s.own - s.spent as held from ${prefix}spend_counters c
      cross join lateral (select coalesce(sum(free) filter (where host = $2), 0)::bigint as own, coalesce(sum(spent), 0)::bigint as spent
        from ${prefix}spend_slices where account = c.account and counter = c.counter) s
      where c.account = $1 and c.counter in (select jsonb_array_elements_text($3))`,
    [keyDigest(accountId), host, JSON.stringify(digests)],
  )
  return readUsage(digests, found)
}

/**
 * Implements `SpendStorage.collect` on Postgres: ends slices whose lease is over, so that no counter loses what a host that ended had
 * taken, then deletes expired counters without slices.
 */
export async function collectCounters(
  db: SqlQueries,
  prefix: string,
  limit: number,
  now: EpochMs,
): Promise<number> {
  const [row] = await rows(db, `select ${prefix}spend_end_slices($1, $2) as ended`, [limit, now])
  const ended = toInteger(row?.['ended'])
  const hasSlice = `exists (select from ${prefix}spend_slices s where s.account = c.account and s.counter = c.counter)`
  return ended + (await deleteExpiredCounters(db, prefix, limit - ended, now, `and not ${hasSlice}`))
}
