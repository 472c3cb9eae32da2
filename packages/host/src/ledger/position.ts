import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { hasAllFeatures, toText } from '@gatewright/kernel/internal/sql'

/*
 * A position of the ledger is an id of a Postgres transaction: the check has seen every transfer of the transactions before it. It is
 * the oldest transaction that was open when the check read, so a transfer that commits later is never before it, whatever the
 * order of the commits.
 */

/** A position where everything was right. Undefined: check the whole ledger. */
export type CheckedPosition = string | undefined

const CLUSTER = '(select cast(system_identifier as text) from pg_control_system())'
const READ = `select cast(position as text) as position from gw_ledger_position
  where cluster = ${CLUSTER} and position <= pg_snapshot_xmin(pg_current_snapshot())`
const LOCK = `${READ} for update`
const START = `update gw_ledger_position set cluster = ${CLUSTER}, position = '0', transfers = 0`
const ADD = `insert into gw_ledger_checked as c (ledger_account, balance_cents)
  select ledger_account, sum(amount_cents) from gw_ledger_legs
    where xid >= cast($1 as xid8) and xid < cast($2 as xid8) group by ledger_account
  on conflict (ledger_account) do update set balance_cents = c.balance_cents + excluded.balance_cents`
const MOVE = `update gw_ledger_position set position = cast($2 as xid8), transfers = transfers + (
  select count(*) from gw_ledger_legs where xid >= cast($1 as xid8) and xid < cast($2 as xid8) and side = 'debit')`

/**
 * Reads the position of the last check. Undefined if there was none, on SQLite and with minimal features, and after the database was moved to another cluster, by
 * a dump or an upgrade: there, new transactions may have ids before the position.
 */
export async function checkedPosition(db: SqlQueries): Promise<CheckedPosition> {
  if (!hasAllFeatures(db)) return undefined
  const [row] = await rows(db, READ)
  const position = row && toText(row['position'])
  return position === '0' ? undefined : position
}

/** Reads the position of the snapshot of a transaction. Every transfer before it is visible there. */
export async function snapshotPosition(tx: SqlQueries): Promise<CheckedPosition> {
  if (!hasAllFeatures(tx)) return undefined
  const [row] = await rows(tx, 'select cast(pg_snapshot_xmin(pg_current_snapshot()) as text) as position')
  return toText(row?.['position'])
}

/**
 * Stores that everything up to `position` was right, with the balances there, which a check that began at `since` has found. Stores
 * nothing if another check has moved the position meanwhile. `setUp` is the first statement of the transaction.
 */
export async function storePosition(
  db: SqlClient,
  since: CheckedPosition,
  position: string,
  setUp: string,
): Promise<void> {
  await db.transaction(async tx => {
    await rows(tx, setUp)
    if (since === undefined) {
      await rows(tx, START)
      await rows(tx, 'delete from gw_ledger_checked')
    } else {
      const [row] = await rows(tx, LOCK)
      if (!row || toText(row['position']) !== since) return
    }
    await rows(tx, ADD, [since ?? '0', position])
    await rows(tx, MOVE, [since ?? '0', position])
  })
}
