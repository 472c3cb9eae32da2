import { rows, type SqlClient, type SqlQueries, type SqlValue } from '@gatewright/kernel/sql'
import { rowLock, toInteger, toText } from '@gatewright/kernel/internal/sql'
import { checkedPosition, nextPosition, type AccountName, type CheckedPosition } from './position.ts'
import { statementLimit } from './statements.ts'

/** The result of checking the ledger. */
export interface LedgerReport {
  readonly transfers: number
  /** How many of the transfers this check has added up: those since its position, or all. */
  readonly added: number
  /** The sum of all balances. Any value but 0 means a broken ledger. */
  readonly sumCents: number
  /**
   * At most 100 accounts whose balance differs from the sum of their transfers, or is negative and must not
   * be.
   */
  readonly wrongAccounts: readonly string[]
  /** The ids of at most 100 transfers whose debit and credit do not add up to 0. */
  readonly wrongTransfers: readonly string[]
}

/** What a check of the ledger has read, and where it began. */
export interface LedgerSums extends LedgerReport {
  readonly since: CheckedPosition
  readonly position: CheckedPosition
  /** The accounts that only a second look found right. */
  readonly late: readonly AccountName[]
}

/** Selects the legs since a position, which is parameter 1. */
const SINCE = 'where created_at >= $1'
const IS_SYSTEM = "(substr(id, 1, 6) = 'house:' or substr(id, 1, 8) = 'outside:')"

/** Balances, amounts that are not added to them yet, and what transfers have moved, of each account. */
const amounts = (
  where: string,
): string => `select account_id, id, balance_cents as balance, 0 as moved from gw_ledger_accounts
  union all select account_id, ledger_account, amount_cents, 0 from gw_ledger_tail
  union all select account_id, ledger_account, 0, amount_cents from gw_ledger_legs ${where}`

function statements(where: string, checked: string, before: string) {
  return {
    /** Counts the transfers, those that are read now as `added`, and sums all balances. */
    totals: `select (select count(*) from gw_ledger_legs ${where === '' ? 'where' : `${where} and`} side = 'debit') as added,
      ${before} as before, coalesce(sum(balance), 0) as total from (
        select balance_cents as balance from gw_ledger_accounts union all select amount_cents from gw_ledger_tail) b`,
    /**
     * Compares each account of a user with its own rows. What house and outside accounts have in the rows of each account is added up
     * afterwards: their balances lie elsewhere.
     */
    wrong: `with sums as (
        select account_id, id, sum(balance) as balance, sum(moved) as moved from (${amounts(where)}${checked}) l
          group by account_id, id having ${IS_SYSTEM} or sum(balance) <> sum(moved) or sum(balance) < 0),
      whole as (
        select case when ${IS_SYSTEM} then '' else account_id end as account_id, id, balance, moved from sums)
      select account_id, id from whole group by account_id, id
        having sum(balance) <> sum(moved) or (sum(balance) < 0 and substr(id, 1, 8) <> 'outside:') order by id limit 100`,
    /** Transfers whose legs do not add up to 0. */
    unequal: `select transfer_id as id from gw_ledger_legs ${where} group by transfer_id having sum(amount_cents) <> 0
      order by transfer_id limit 100`,
  }
}

/** Adds up all transfers. */
const ALL = statements('', '', '0')
/** Adds the transfers since a position to the sums that are stored of those before it. */
const SINCE_CHECKED = statements(
  SINCE,
  ' union all select account_id, ledger_account, 0, balance_cents from gw_ledger_checked',
  '(select coalesce(sum(transfers), 0) from gw_ledger_checked)',
)

/**
 * Recomputes every balance: see `Ledger.check`. On a database of several machines a statement has no common snapshot of them, so what it
 * finds wrong is looked at again where it lies, one account or transfer at a time, under the lock of its account.
 */
export async function addUp(db: SqlClient, statementMs: number, sinceChecked: boolean): Promise<LedgerSums> {
  const first = await db.transaction(async tx => {
    await beginReading(tx, statementMs)
    const since = sinceChecked ? await checkedPosition(tx) : undefined
    const { totals, wrong, unequal } = since === undefined ? ALL : SINCE_CHECKED
    const parameters = since === undefined ? [] : [since]
    const position = await nextPosition(tx)
    const [sums] = await rows(tx, totals, parameters)
    return {
      since,
      position,
      added: toInteger(sums?.['added']),
      before: toInteger(sums?.['before']),
      total: toInteger(sums?.['total']),
      accounts: (await rows(tx, wrong, parameters)).map(row => ({
        accountId: toText(row['account_id']),
        id: toText(row['id']),
      })),
      transfers: (await rows(tx, unequal, parameters)).map(row => toText(row['id'])),
    }
  })
  const wrong: AccountName[] = []
  for (const account of first.accounts) if (await isWrong(db, account, statementMs)) wrong.push(account)
  const unequal: string[] = []
  for (const id of first.transfers) if (await isUnequal(db, id)) unequal.push(id)
  const { since, position, added, before, total } = first
  return {
    transfers: before + added,
    added,
    // Without either of them the balances add up to what the transfers add up to, which is 0.
    sumCents: wrong.length + unequal.length === 0 ? 0 : total,
    wrongAccounts: wrong.map(({ id }) => id),
    wrongTransfers: unequal,
    since,
    position,
    late: first.accounts.filter(account => !wrong.includes(account)),
  }
}

/** All statements of the transaction see the same snapshot, as far as the database has one. */
async function beginReading(tx: SqlQueries, statementMs: number): Promise<void> {
  if (tx.dialect !== 'postgres') return
  await rows(tx, 'set transaction isolation level repeatable read')
  await rows(tx, statementLimit(statementMs))
}

/** Adds up one ledger account, from its first transfer, under its lock: no fold moves its pending amounts meanwhile. */
async function isWrong(db: SqlClient, account: AccountName, statementMs: number): Promise<boolean> {
  return db.transaction(async tx => {
    if (tx.dialect === 'postgres') await rows(tx, statementLimit(statementMs))
    await lockLedgerAccount(tx, account)
    const { accountId, id } = account
    const [where, values]: [string, SqlValue[]] =
      accountId === '' ? ['id = $1', [id]] : ['account_id = $2 and id = $1', [id, accountId]]
    const text = `select coalesce(sum(balance), 0) as balance, coalesce(sum(moved), 0) as moved
      from (${amounts('')}) l where ${where}`
    const [row] = await rows(tx, text, values)
    const balance = toInteger(row?.['balance'])
    return balance !== toInteger(row?.['moved']) || (balance < 0 && !id.startsWith('outside:'))
  })
}

/** Locks a ledger account until the transaction ends. A transfer of which one machine has not heard the commit holds the lock, too. */
export async function lockLedgerAccount(tx: SqlQueries, { accountId, id }: AccountName): Promise<void> {
  const text = `select id from gw_ledger_accounts where account_id = $1 and id = $2${rowLock(tx, 'for no key update')}`
  await rows(tx, text, [accountId, id])
}

/** Adds up one transfer after whoever wrote its legs has ended. */
async function isUnequal(db: SqlClient, transferId: string): Promise<boolean> {
  const legs = 'select account_id, ledger_account, amount_cents from gw_ledger_legs where transfer_id = $1'
  return db.transaction(async tx => {
    for (const leg of await rows(tx, legs, [transferId]))
      await lockLedgerAccount(tx, { accountId: toText(leg['account_id']), id: toText(leg['ledger_account']) })
    const found = await rows(tx, legs, [transferId])
    return found.reduce((sum, leg) => sum + toInteger(leg['amount_cents']), 0) !== 0
  })
}
