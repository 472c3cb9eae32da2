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
const PENDING = `select a.id from gw_ledger_accounts a where a.id > $1 and a.id <= $2
  and exists (select 1 from gw_ledger_tail t where t.account_id = a.id) order by a.id`
/**
 * Reads the accounts of a range to fold and locks them. An account that another transaction holds is left out, so that a fold never
 * waits for a lock while it holds others, and cannot deadlock. A separate statement: the one that folds must see what was
 * committed before the lock.
 */
export const FOLDABLE: Readonly<Record<SqlDialect, string>> = {
  postgres: `${PENDING} for no key update skip locked`,
  sqlite: PENDING,
}
/** Each account with its balance and the sum of its transfers. */
const BOOKED = `select a.id, a.may_overdraw, a.balance_cents + ${TAIL_SUM} as balance, coalesce(m.moved, 0) as moved
  from gw_ledger_accounts a left join (
    select l.account, sum(l.amount) as moved from (
      select credit_account as account, amount_cents as amount from gw_ledger_transfers
      union all select debit_account, -amount_cents from gw_ledger_transfers) l group by l.account
  ) m on m.account = a.id`
/** Counts all transfers and sums all balances. */
export const TOTALS: string = `select (select count(*) from gw_ledger_transfers) as transfers,
  coalesce(sum(b.balance), 0) as total from (${BOOKED}) b`
/** Accounts whose balance differs from their transfers, or is negative and must not be. */
export const WRONG: string = `select b.id from (${BOOKED}) b
  where b.balance <> b.moved or (b.may_overdraw = 0 and b.balance < 0) order by b.id limit 100`

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

/** Sets how long a statement of the transaction may take on Postgres, in place of the limit of the pool; 0: no limit. */
export const statementLimit = (ms: number): string => `set local statement_timeout = ${Math.trunc(ms)}`
