import type { SqlDialect } from '@gatewright/kernel/sql'

/** How many pending amounts an account may have before a debit folds them. */
export const MAX_PENDING = 64

/** Pending amounts of an account. */
const TAIL_SUM = '(select coalesce(sum(t.amount_cents), 0) from gw_ledger_tail t where t.account_id = a.id)'
/** Creates both accounts of a transfer if they are missing. */
export const OPEN_ACCOUNTS: string = `insert into gw_ledger_accounts (id, may_overdraw) values ($1, $2), ($3, $4)
  on conflict (id) do nothing`
/**
 * Locks an account that may not be overdrawn. A separate statement: a statement that waited for the lock would
 * still use the balance read before.
 */
export const LOCK: string =
  'select id from gw_ledger_accounts where id = $1 and may_overdraw = 0 for no key update'
/**
 * Inserts a transfer if the debited account holds enough; no row when the id exists or money is missing. Returns how many pending
 * amounts the debited account had, at most 64.
 */
export const INSERT: string = `insert into gw_ledger_transfers (id, debit_account, credit_account, amount_cents, cause, created_at)
  select cast($1 as text), a.id, cast($2 as text), cast($3 as bigint), cast($4 as text), cast($5 as bigint)
    from gw_ledger_accounts a
    where a.id = $6 and (a.may_overdraw = 1 or a.balance_cents + ${TAIL_SUM} >= cast($3 as bigint))
  on conflict (id) do nothing
  returning (select count(*) from (
    select 1 from gw_ledger_tail t where t.account_id = gw_ledger_transfers.debit_account limit ${MAX_PENDING}) p) as pending`
/** Reads a transfer by its id. */
export const FIND: string = 'select * from gw_ledger_transfers where id = $1'
/** Reads the balance of an account, pending amounts included. */
export const BALANCE: string = `select a.balance_cents + ${TAIL_SUM} as balance from gw_ledger_accounts a where a.id = $1`
/** Returns the last of the next accounts with pending amounts. */
export const NEXT_ACCOUNTS: string = `select max(n.account_id) as last from (
  select distinct account_id from gw_ledger_tail where account_id > $1 order by account_id limit $2) n`
/** Reads the accounts of a range with pending amounts. */
const PENDING = `select a.id from gw_ledger_accounts a where a.id in (
  select t.account_id from gw_ledger_tail t where t.account_id > $1 and t.account_id <= $2) order by a.id`
/**
 * Reads the accounts of a range to fold and locks them, in order. An account that another transaction holds is left out. A separate
 * statement: the one that folds must see what was committed before the lock.
 */
export const FOLDABLE: Readonly<Record<SqlDialect, string>> = {
  postgres: `${PENDING} for no key update of a skip locked`,
  sqlite: PENDING,
}
/** The legs of the transfers that a condition selects. */
const legs = (
  where: string,
): string => `select credit_account as account, amount_cents as amount from gw_ledger_transfers ${where}
  union all select debit_account, -amount_cents from gw_ledger_transfers ${where}`
/** Selects the transfers since a position, which is parameter 1. */
const SINCE = 'where xid >= cast($1 as xid8)'

/** The statements of a check: of all transfers, or of those since a position (parameter 1). */
export interface CheckStatements {
  /** Counts the transfers, those that are read now as `added`, and sums all balances. */
  readonly totals: string
  /** Accounts whose balance differs from their transfers, or is negative and must not be. */
  readonly wrong: string
}

function checkStatements(where: string, checked: string, before: string): CheckStatements {
  /** Each account with its balance and the sum of its transfers. */
  const booked = `select a.id, a.may_overdraw, a.balance_cents + ${TAIL_SUM} as balance, coalesce(m.moved, 0) as moved
    from gw_ledger_accounts a left join (
      select l.account, sum(l.amount) as moved from (${legs(where)}${checked}) l group by l.account
    ) m on m.account = a.id`
  return {
    totals: `select (select count(*) from gw_ledger_transfers ${where}) as added, ${before} as before,
      coalesce(sum(b.balance), 0) as total from (${booked}) b`,
    wrong: `select b.id from (${booked}) b
      where b.balance <> b.moved or (b.may_overdraw = 0 and b.balance < 0) order by b.id limit 100`,
  }
}

/** Adds up all transfers. */
export const CHECK_ALL: CheckStatements = checkStatements('', '', '0')
/** Adds the transfers since a position to what the accounts had at that position. Only on Postgres. */
export const CHECK_SINCE: CheckStatements = checkStatements(
  SINCE,
  ' union all select account_id, balance_cents from gw_ledger_checked',
  '(select transfers from gw_ledger_position)',
)

/**
 * Adds all pending amounts of accounts to their balances, atomically. The parameter is a JSON array of their ids. The caller holds the
 * locks of the accounts: only then may it delete their pending amounts.
 */
export const FOLD: Readonly<Record<SqlDialect, readonly string[]>> = {
  // One statement, so that rows added by other transactions meanwhile are neither summed nor deleted.
  postgres: [
    `with folded as (
        delete from gw_ledger_tail where account_id in (select jsonb_array_elements_text(cast($1 as jsonb)))
          returning account_id, amount_cents
      ), sums as (select account_id, sum(amount_cents) as amount from folded group by account_id)
      update gw_ledger_accounts a set balance_cents = a.balance_cents + sums.amount from sums where a.id = sums.account_id`,
  ],
  // An SQLite transaction is the only writer.
  sqlite: [
    `update gw_ledger_accounts as a set balance_cents = balance_cents + ${TAIL_SUM}
        where a.id in (select value from json_each($1))`,
    'delete from gw_ledger_tail where account_id in (select value from json_each($1))',
  ],
}

/**
 * Makes a fold give up instead of waiting longer for a lock. Despite `skip locked` Postgres waits for a row that was updated and that a
 * check of a foreign key has locked too. Shorter than the time after which Postgres ends one of two transactions that wait for
 * each other, which could be a transfer (`deadlock_timeout`, 1 s).
 */
export const FOLD_LOCK_LIMIT = "set local lock_timeout = '100ms'"

/** Sets how long a statement of the transaction may take on Postgres, in place of the limit of the pool; 0: no limit. */
export const statementLimit = (ms: number): string => `set local statement_timeout = ${Math.trunc(ms)}`
