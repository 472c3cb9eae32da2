import type { HostDialect } from '../records/host-dialect.ts'

/** How many pending amounts an account may have before a debit folds them. */
export const MAX_PENDING = 64

/** The pending amounts of a ledger account of a user: they lie in the partition of its account, the parameter $1. */
const OWN_TAIL = `(select coalesce(sum(t.amount_cents), 0) from gw_ledger_tail t
  where t.account_id = $1 and t.ledger_account = a.id)`
/** The balance of a house or outside account, whose amounts lie in the partitions of all accounts. The parameter is its name. */
const systemBalance = (name: string): string => `(select coalesce(sum(balance_cents), 0) from (
  select balance_cents from gw_ledger_accounts where account_id = '' and id = ${name}
  union all select amount_cents from gw_ledger_tail where ledger_account = ${name}) s)`

/** Creates a ledger account if it is missing. The parameters are the account and the name. */
export const OPEN_ACCOUNT: string =
  'insert into gw_ledger_accounts (account_id, id) values ($1, $2) on conflict do nothing'
/**
 * Locks an account that may not be overdrawn. A separate statement: a statement that waited for the lock would
 * still use the balance read before.
 */
export const LOCK: string =
  'select id from gw_ledger_accounts where account_id = $1 and id = $2 for no key update'

/** The statements that insert a transfer. */
type InsertStatements = Readonly<Record<HostDialect, readonly [string, ...string[]]>>

/** Which accounts a transfer may debit: one of a user, with money; one of the house, with money; one outside, always. */
type DebitKind = 'owned' | 'house' | 'outside'

/*
 * The parameters of a transfer: $1 the account of the debit, $2 the id of the transfer, $3 the debited and $4 the credited ledger
 * account, $5 the amount, $6 the cause, $7 the time, $8 the account of the credit.
 */
const COVERED: Readonly<Record<DebitKind, string>> = {
  owned: `from gw_ledger_accounts a where a.account_id = $1 and a.id = $3
    and a.balance_cents + ${OWN_TAIL} >= cast($5 as bigint)`,
  house: `where ${systemBalance('$3')} >= cast($5 as bigint)`,
  outside: 'where true',
}
// A credit has no conflict clause: without this condition the key of another transfer's credit would fail the statement.
const UNUSED = `not exists (select 1 from gw_ledger_legs l
    where l.account_id = cast($1 as text) and l.transfer_id = cast($2 as text))
  and not exists (select 1 from gw_ledger_legs l
    where l.account_id = cast($8 as text) and l.transfer_id = cast($2 as text))`
const COLUMNS =
  '(account_id, transfer_id, side, ledger_account, counterpart, amount_cents, cause, created_at)'
const HAS_PENDING = `(select count(*) from (select 1 from gw_ledger_tail t
  where t.account_id = cast($1 as text) and t.ledger_account = cast($3 as text) limit ${MAX_PENDING}) p) as pending`
const debitLeg = (kind: DebitKind, returning: string): string => `insert into gw_ledger_legs ${COLUMNS}
  select cast($1 as text), cast($2 as text), 'debit', cast($3 as text), cast($4 as text), -cast($5 as bigint),
    cast($6 as text), cast($7 as bigint) ${COVERED[kind]} and ${UNUSED}
  on conflict (account_id, transfer_id, side) do nothing returning ${returning}`
const creditLeg = (from: string): string => `insert into gw_ledger_legs ${COLUMNS}
  select cast($8 as text), cast($2 as text), 'credit', cast($4 as text), cast($3 as text), cast($5 as bigint),
    cast($6 as text), cast($7 as bigint) ${from}`
const insertTail = (rows: string): string =>
  `insert into gw_ledger_tail (ledger_account, account_id, transfer_id, amount_cents) ${rows}`
const DEBITED = 'select cast($3 as text), cast($1 as text), cast($2 as text), -cast($5 as bigint)'
const CREDITED = 'select cast($4 as text), cast($8 as text), cast($2 as text), cast($5 as bigint)'

function insertStatements(kind: DebitKind): InsertStatements {
  const debit = debitLeg(kind, '1')
  const pending = `select ${HAS_PENDING} from debit`
  return {
    sqlite: [debitLeg(kind, HAS_PENDING), creditLeg(''), insertTail(`${DEBITED} union all ${CREDITED}`)],
    postgres: [
      `with debit as (${debit}), tail as (${insertTail(`${DEBITED} from debit`)}) ${pending}`,
      // Postgres refuses a parameter that no part of the statement uses.
      `with credit as (${creditLeg('')}) ${insertTail(`${CREDITED} where cast($1 as text) is not null`)}`,
    ],
  }
}

/**
 * Inserts both legs of a transfer if the debited account holds enough. The first statement returns no row when the id exists or money is
 * missing; otherwise how many pending amounts the debited account had, at most 64, and the other statements must follow it.
 */
export const INSERT: Readonly<Record<DebitKind, InsertStatements>> = {
  owned: insertStatements('owned'),
  house: insertStatements('house'),
  outside: insertStatements('outside'),
}

/** Records that a transfer with an id from outside belongs to an account. No row when the id is known. */
export const REFER: string = `insert into gw_ledger_references (transfer_id, account_id) values ($1, $2)
  on conflict do nothing returning account_id`
/** Reads the account of a transfer with an id from outside. */
export const REFERRED: string = 'select account_id from gw_ledger_references where transfer_id = $1'
/** Forgets the id of a transfer that was not made. */
export const FORGET: string = 'delete from gw_ledger_references where transfer_id = $1'
/** Reads the debit of a transfer. */
export const FIND: string =
  "select * from gw_ledger_legs where account_id = $1 and transfer_id = $2 and side = 'debit'"
/** Reads the legs that two accounts have with an id of a transfer. */
export const FIND_USES: string =
  'select * from gw_ledger_legs where account_id in ($1, $3) and transfer_id = $2'
/** Reads the balance of a ledger account of a user, pending amounts included. */
export const OWN_BALANCE: string = `select a.balance_cents + ${OWN_TAIL} as balance from gw_ledger_accounts a
  where a.account_id = $1 and a.id = $2`
/** Reads the balance of a house or outside account, pending amounts included. Reads all partitions. */
export const SYSTEM_BALANCE: string = `select ${systemBalance('$1')} as balance`
/** Returns the last of the next ledger accounts with pending amounts. */
export const NEXT_ACCOUNTS: string = `select max(n.ledger_account) as last from (
  select distinct ledger_account from gw_ledger_tail where ledger_account > $1 order by ledger_account limit $2) n`
/** Creates the house and outside accounts of a range that have pending amounts: no transfer does. */
export const OPEN_SYSTEM_ACCOUNTS: string = `insert into gw_ledger_accounts (account_id, id)
  select distinct '', ledger_account from gw_ledger_tail where ledger_account > $1 and ledger_account <= $2
    and (substr(ledger_account, 1, 6) = 'house:' or substr(ledger_account, 1, 8) = 'outside:')
  on conflict do nothing`
/** Reads the ledger accounts of a range with pending amounts. */
const PENDING = `select a.id from gw_ledger_accounts a where a.id in (
  select t.ledger_account from gw_ledger_tail t where t.ledger_account > $1 and t.ledger_account <= $2) order by a.id`
/**
 * Reads the accounts of a range to fold and locks them, in order. An account that another transaction holds is left out. A separate
 * statement: the one that folds must see what was committed before the lock.
 */
export const FOLDABLE: Readonly<Record<HostDialect, string>> = {
  postgres: `${PENDING} for no key update of a skip locked`,
  sqlite: PENDING,
}
/**
 * Adds all pending amounts of ledger accounts to their balances, atomically. The caller holds the locks of the accounts: only then may it
 * delete their pending amounts.
 */
function foldStatements(dialect: HostDialect, which: string, account = ''): readonly string[] {
  const tail = `gw_ledger_tail where ${which}`
  // An SQLite transaction is the only writer.
  if (dialect === 'sqlite')
    return [
      `update gw_ledger_accounts as a set balance_cents = balance_cents + m.amount
        from (select ledger_account, sum(amount_cents) as amount from ${tail} group by ledger_account) m
        where ${account}a.id = m.ledger_account`,
      `delete from ${tail}`,
    ]
  // One statement, so that rows added by other transactions meanwhile are neither summed nor deleted.
  return [
    `with folded as (delete from ${tail} returning ledger_account, amount_cents),
        sums as (select ledger_account, sum(amount_cents) as amount from folded group by ledger_account)
      update gw_ledger_accounts a set balance_cents = a.balance_cents + sums.amount from sums
        where ${account}a.id = sums.ledger_account`,
  ]
}

const listed = (names: string): string => `ledger_account in (${names})`
/** Folds the ledger accounts of a list, a JSON array of their names, in all partitions. */
export const FOLD: Readonly<Record<HostDialect, readonly string[]>> = {
  postgres: foldStatements('postgres', listed('select jsonb_array_elements_text(cast($1 as jsonb))')),
  sqlite: foldStatements('sqlite', listed('select value from json_each($1)')),
}
const OWN = 'account_id = $1 and ledger_account = $2'
/** Folds one ledger account of a user. The parameters are the account and the name. */
export const FOLD_OWN: Readonly<Record<HostDialect, readonly string[]>> = {
  postgres: foldStatements('postgres', OWN, 'a.account_id = $1 and '),
  sqlite: foldStatements('sqlite', OWN, 'a.account_id = $1 and '),
}

/**
 * Makes a fold give up instead of waiting longer for a lock. Despite `skip locked` Postgres waits for a row that was updated and that a
 * check of a foreign key has locked too. Shorter than the time after which Postgres ends one of two transactions that wait for
 * each other, which could be a transfer (`deadlock_timeout`, 1 s).
 */
export const FOLD_LOCK_LIMIT = "set local lock_timeout = '100ms'"

/** Sets how long a statement of the transaction may take on Postgres, in place of the limit of the pool; 0: no limit. */
export const statementLimit = (ms: number): string => `set local statement_timeout = ${Math.trunc(ms)}`
