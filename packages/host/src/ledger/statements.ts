import type { HostDialect } from '../records/host-dialect.ts'

/** How many pending amounts an account may have before a debit folds them. */
export const MAX_PENDING = 64

/** The pending amounts of a ledger account of a user: they lie with the rows of its account, the parameter $1. */
const OWN_TAIL = `(select coalesce(sum(t.amount_cents), 0) from gw_ledger_tail t
  where t.account_id = $1 and t.ledger_account = a.id)`

/** Creates a ledger account if it is missing. The parameters are the account and the name. */
export const OPEN_ACCOUNT: string =
  'insert into gw_ledger_accounts (account_id, id) values ($1, $2) on conflict do nothing'
/** Locks an account that may not be overdrawn. A separate statement: the next one sees what was committed before the lock. */
export const LOCK: string =
  'select id from gw_ledger_accounts where account_id = $1 and id = $2 for no key update'

/**
 * Takes an amount from the stored balance of a house account or a user's, and locks it. No row if less is stored, or nothing yet. With a negative
 * amount it gives back. The parameters are the account, the ledger account and the amount. Pending amounts do not count. They are credits, so
 * the account never holds less than what is stored; and on several machines a debit of the house could see those of others too late, or
 * twice while they are folded.
 */
export const TAKE: string = `update gw_ledger_accounts set balance_cents = balance_cents - cast($3 as bigint)
  where account_id = $1 and id = $2 and balance_cents >= cast($3 as bigint) returning 1 as taken`

/**
 * Counts the legs that an account has with the id of a transfer, and says whether it has a ledger account (1 or 0). The parameters are the
 * account, the id and the ledger account.
 */
export const READ_OTHER: string = `select l.uses, case when a.id is null then 0 else 1 end as opened
  from (select count(*) as uses from gw_ledger_legs where account_id = $1 and transfer_id = $2) l
    left join gw_ledger_accounts a on a.account_id = $1 and a.id = $3`

/** Reads the same of the account of a debit, and how many amounts of a fourth parameter, its ledger account, are pending. */
export const READ_OWN: string = `select l.uses, case when a.id is null then 0 else 1 end as opened,
    (select count(*) from gw_ledger_tail t where t.account_id = $1 and t.ledger_account = $4) as pending
  from (select count(*) as uses from gw_ledger_legs where account_id = $1 and transfer_id = $2) l
    left join gw_ledger_accounts a on a.account_id = $1 and a.id = $3`

/*
 * The parameters of a transfer: $1 the account of the debit, $2 the id of the transfer, $3 the debited and $4 the credited ledger
 * account, $5 the amount, $6 the cause, $7 the time, $8 the account of the credit.
 */
const LEGS =
  'gw_ledger_legs (account_id, transfer_id, side, ledger_account, counterpart, amount_cents, cause, created_at)'
const DEBIT_LEG = "$1, $2, 'debit', $3, $4, -cast($5 as bigint), $6, cast($7 as bigint)"
const CREDIT_LEG = "$8, $2, 'credit', $4, $3, cast($5 as bigint), $6, cast($7 as bigint)"

/** Inserts both legs of a transfer. */
export const INSERT_LEGS: string = `insert into ${LEGS} values (${DEBIT_LEG}), (${CREDIT_LEG})`

/** Adds a transfer to the pending amounts of both ledger accounts: $1 and $2 the debited one and its account, $3 and $4 the credited one, $5 the id, $6 the amount. */
export const INSERT_TAIL: string = `insert into gw_ledger_tail (ledger_account, account_id, transfer_id, amount_cents)
  values ($1, $2, $5, -cast($6 as bigint)), ($3, $4, $5, cast($6 as bigint))`

/**
 * Inserts the debit of a transfer from a house or outside account, which lies with the account of the credit. No row when the account
 * has the id. With it no other has to be locked: of simultaneous transfers with one id, one inserts it.
 */
export const INSERT_SYSTEM_DEBIT: string = `insert into ${LEGS}
  select cast($1 as text), cast($2 as text), 'debit', cast($3 as text), cast($4 as text), -cast($5 as bigint),
    cast($6 as text), cast($7 as bigint)
  where not exists (select 1 from gw_ledger_legs l where l.account_id = $1 and l.transfer_id = $2)
  on conflict (account_id, transfer_id, side) do nothing returning 1 as inserted`

/** Inserts the credit of such a transfer: its parameters are those of `INSERT_LEGS` but the account of the debit, which is the same. */
export const INSERT_CREDIT: string = `insert into ${LEGS} values ($1, $2, 'credit', $4, $3, cast($5 as bigint), $6, cast($7 as bigint))`

/** Adds the credit of a transfer to the pending amounts: the parameters are the ledger account, its account, the id and the amount. */
export const INSERT_CREDIT_TAIL: string = `insert into gw_ledger_tail (ledger_account, account_id, transfer_id, amount_cents)
  values ($1, $2, $3, cast($4 as bigint))`

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
/** Reads the balance of a house or outside account, pending amounts included. Reads all of them. */
export const SYSTEM_BALANCE: string = `select coalesce(sum(balance_cents), 0) as balance from (
  select balance_cents from gw_ledger_accounts where account_id = '' and id = $1
  union all select amount_cents from gw_ledger_tail where ledger_account = $1) s`
/** Returns the next ledger accounts with pending amounts, in order. */
export const NEXT_ACCOUNTS: string =
  'select distinct ledger_account as id from gw_ledger_tail where ledger_account > $1 order by id limit $2'
/**
 * Reads and locks an account to fold, no row if another transaction holds it. A separate statement: the one that folds must see what was committed
 * before the lock.
 */
export const LOCK_FREE: Readonly<Record<HostDialect, string>> = {
  postgres: `${LOCK} skip locked`,
  sqlite: 'select id from gw_ledger_accounts where account_id = $1 and id = $2',
}
/**
 * Adds all pending amounts of ledger accounts to their balances, atomically. The caller holds the locks of the accounts: only then may it
 * delete their pending amounts.
 */
function foldStatements(dialect: HostDialect, which: string): readonly string[] {
  const tail = `gw_ledger_tail where ${which}`
  // An SQLite transaction is the only writer.
  if (dialect === 'sqlite')
    return [
      `update gw_ledger_accounts as a set balance_cents = balance_cents + m.amount
        from (select ledger_account, sum(amount_cents) as amount from ${tail} group by ledger_account) m
        where a.account_id = $1 and a.id = m.ledger_account`,
      `delete from ${tail}`,
    ]
  // One statement, so that rows added by other transactions meanwhile are neither summed nor deleted.
  return [
    `with folded as (delete from ${tail} returning ledger_account, amount_cents),
        sums as (select ledger_account, sum(amount_cents) as amount from folded group by ledger_account)
      update gw_ledger_accounts a set balance_cents = a.balance_cents + sums.amount from sums
        where a.account_id = $1 and a.id = sums.ledger_account`,
  ]
}

const OWN = 'account_id = $1 and ledger_account = $2'
const SYSTEM = "cast($1 as text) = '' and ledger_account = $2"
/** Folds one ledger account of a user. The parameters are the account and the name. */
export const FOLD_OWN: Readonly<Record<HostDialect, readonly string[]>> = {
  postgres: foldStatements('postgres', OWN),
  sqlite: foldStatements('sqlite', OWN),
}
/** Folds one house or outside account, whose amounts lie with all accounts. The parameters are '' and the name. */
export const FOLD_SYSTEM: Readonly<Record<HostDialect, readonly string[]>> = {
  postgres: foldStatements('postgres', SYSTEM),
  sqlite: foldStatements('sqlite', SYSTEM),
}

/**
 * Makes a fold give up instead of waiting longer for a lock. Despite `skip locked` Postgres waits for a row that was updated and that a
 * check of a foreign key has locked too. Shorter than the time after which Postgres ends one of two transactions that wait for
 * each other, which could be a transfer (`deadlock_timeout`, 1 s).
 */
export const FOLD_LOCK_LIMIT = "set local lock_timeout = '100ms'"

/** Sets how long a statement of the transaction may take on Postgres, in place of the limit of the pool; 0: no limit. */
export const statementLimit = (ms: number): string => `set local statement_timeout = ${Math.trunc(ms)}`
