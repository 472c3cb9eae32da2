import { GRACE_MS } from '@gatewright/kernel'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'

/*
 * A position of the ledger is an instant, in epoch ms: everything about the transfers that were made before it was right, and their sums are
 * stored. It stays `SETTLED_MS` behind the clock, because a transaction writes when its transfer was made some time before it commits. One
 * that commits later than that is missing in the stored sums: the next check finds a difference, adds that account up from its first
 * transfer, and stores its sums again. So no order of commits is assumed, which several machines do not have.
 */

/** Every transfer that was made this long ago is committed, but for one in which a database of several machines was interrupted. */
const SETTLED_MS = GRACE_MS

/** A ledger account. The account id of house and outside accounts is ''. */
export interface AccountName {
  readonly accountId: string
  readonly id: string
}

/** An instant before which everything was right. Undefined: check the whole ledger. */
export type CheckedPosition = number | undefined

const READ = 'select checked_before from gw_ledger_position'
const LOCK = `${READ} for update`
const MOVE = 'update gw_ledger_position set checked_before = $1'
const add = (where: string): string => `insert into gw_ledger_checked as c
    (account_id, ledger_account, balance_cents, transfers)
  select account_id, ledger_account, sum(amount_cents), count(*) filter (where side = 'debit') from gw_ledger_legs
    where created_at >= $1 and created_at < $2${where} group by account_id, ledger_account
  on conflict (account_id, ledger_account) do update set
    balance_cents = c.balance_cents + excluded.balance_cents, transfers = c.transfers + excluded.transfers`
const ADD = add('')

/** The stored sums of a ledger account. Those of a house or outside account lie with the accounts on the other sides. */
const ofAccount = ({ accountId }: AccountName, first: number): string =>
  ` ledger_account = $${first}${accountId === '' ? '' : ` and account_id = $${first + 1}`}`
const valuesOf = ({ accountId, id }: AccountName): string[] => (accountId === '' ? [id] : [id, accountId])

/** Reads the position of the last check. Undefined if there was none, and on SQLite, where each check adds up everything. */
export async function checkedPosition(db: SqlQueries): Promise<CheckedPosition> {
  if (db.dialect === 'sqlite') return undefined
  const [row] = await rows(db, READ)
  const position = toInteger(row?.['checked_before'])
  return position === 0 ? undefined : position
}

/** Returns where the next check can begin if one that begins now finds nothing wrong. Undefined on SQLite. */
export async function nextPosition(tx: SqlQueries): Promise<CheckedPosition> {
  if (tx.dialect === 'sqlite') return undefined
  const [row] = await rows(tx, 'select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now')
  return toInteger(row?.['now']) - SETTLED_MS
}

/** What a check has found right. */
interface FoundRight {
  /** Where it began. */
  readonly since: CheckedPosition
  /** Where the next one can begin. */
  readonly position: number
  /** The accounts whose stored sums lacked a transfer that had committed late. */
  readonly late: readonly AccountName[]
}

/**
 * Stores that everything up to a position was right, with the sums there. Stores nothing if another check has moved the position
 * meanwhile. `setUp` is the first statement of the transaction.
 */
export async function storePosition(
  db: SqlClient,
  { since, position, late }: FoundRight,
  setUp: string,
): Promise<void> {
  await db.transaction(async tx => {
    await rows(tx, setUp)
    const [row] = await rows(tx, LOCK)
    if (since === undefined) await rows(tx, 'delete from gw_ledger_checked')
    else if (toInteger(row?.['checked_before']) !== since) return
    for (const account of late) {
      await rows(tx, `delete from gw_ledger_checked where${ofAccount(account, 1)}`, valuesOf(account))
      await rows(tx, add(` and${ofAccount(account, 3)}`), [0, since ?? 0, ...valuesOf(account)])
    }
    await rows(tx, ADD, [since ?? 0, position])
    await rows(tx, MOVE, [position])
  })
}
