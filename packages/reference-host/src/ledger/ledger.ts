import { readFileSync } from 'node:fs'
import type { EpochMs } from '@gatewright/kernel'
import {
  migrate,
  readVersions,
  rows,
  toInteger,
  toText,
  type SqlClient,
  type SqlDialect,
  type SqlQueries,
} from '@gatewright/kernel/sql'
import type { SpendHold } from '@gatewright/scope-guard'
import { holdsUserMoney, ledgerAccounts, mayOverdraw, type OwnAccount, type UserAccount } from './accounts.ts'

/**
 * What allows a debit of a user's account: the hold that was reserved for it under the policies of whoever triggers it, or
 * the reason why no policy is asked.
 */
export type Cover =
  | SpendHold
  /** `own_money_back`: to another account of the same user. `operator_correction`: booked by hand. */
  | { readonly exempt: 'own_money_back' | 'operator_correction' }

/** The account that money leaves, and for a user's account what covers the debit. */
export type Debit =
  | { readonly debit: OwnAccount; readonly cover?: undefined }
  | { readonly debit: UserAccount; readonly cover: Cover }

/** Money that moves: out of `debit`, into `credit`. */
export type Transfer = {
  /** Names the event that moves it, such as `payin:payin_1`. One id moves money once, ever. */
  readonly id: string
  readonly credit: string
  /** Integer US cents, at least 1. */
  readonly amountCents: number
  /** Why, for people: one word. */
  readonly cause: string
} & Debit

/**
 * What became of a transfer. `repeated`: its id has moved this money before. `conflict`: its id stands for another transfer.
 * `insufficient`: the payer has too little. Nothing moves but with `done`.
 */
export type Transferred = 'done' | 'repeated' | 'conflict' | 'insufficient'

/** What a check of the whole ledger found. */
export interface LedgerReport {
  readonly transfers: number
  /** The sum of all balances. Anything but 0 is a broken ledger. */
  readonly sumCents: number
  /** Accounts whose balance is not what their transfers add up to, or that are below zero and may not be; 100 at most. */
  readonly wrongAccounts: readonly string[]
}

/**
 * The product's double-entry ledger: append-only transfers between two accounts, so all balances add up to zero. The
 * database itself refuses to change a transfer or to overdraw a user.
 */
export interface Ledger {
  /**
   * Moves money in the caller's transaction. Of simultaneous transfers out of one account each sees the ones before it;
   * of simultaneous transfers with one id one moves. Throws a `TypeError` for a debit of a user's account that no hold of
   * that account and at least that amount covers: a programming error, and the caller's transaction rolls back. Faults:
   * `ERR_STORE_*`.
   */
  transfer(tx: SqlQueries, transfer: Transfer, now: EpochMs): Promise<Transferred>
  /** An account's balance in cents: what was credited less what was debited. 0 for one that never had money. */
  balance(db: SqlQueries, account: string): Promise<number>
  /**
   * Takes what accounts have not added up yet into their balances, `accounts` of them in each step, so that reads stay quick.
   * Safe beside transfers; of many hosts at once one does it. A step that fails is reported, and the accounts behind it are
   * folded all the same.
   */
  fold(accounts: number, report: (error: unknown) => void): Promise<void>
  /** Adds up everything again. It reads the whole ledger. */
  check(): Promise<LedgerReport>
}

/** Brings the ledger's tables to their newest version. Repeatable, and safe from many hosts at once. */
export async function migrateLedger(db: SqlClient, dialect: SqlDialect): Promise<void> {
  const ddl = readFileSync(new URL(`../../src/ledger/ledger.${dialect}.sql`, import.meta.url), 'utf8')
  await migrate(db, dialect, { namespace: 'ledger', versions: readVersions(ddl) })
}

const TAIL_SUM = '(select coalesce(sum(t.amount_cents), 0) from gw_ledger_tail t where t.account_id = a.id)'
const OPEN_ACCOUNTS = `insert into gw_ledger_accounts (id, may_overdraw) values ($1, $2), ($3, $4)
  on conflict (id) do nothing`
// The lock comes in a statement of its own: one that waited for it would still see the balance of before.
const LOCK = 'select id from gw_ledger_accounts where id = $1 and may_overdraw = 0 for no key update'
const INSERT = `insert into gw_ledger_transfers (id, debit_account, credit_account, amount_cents, cause, created_at)
  select cast($1 as text), a.id, cast($2 as text), cast($3 as bigint), cast($4 as text), cast($5 as bigint)
    from gw_ledger_accounts a
    where a.id = $6 and (a.may_overdraw = 1 or a.balance_cents + ${TAIL_SUM} >= cast($3 as bigint))
  on conflict (id) do nothing returning id`
const FIND = 'select * from gw_ledger_transfers where id = $1'
const BALANCE = `select a.balance_cents + ${TAIL_SUM} as balance from gw_ledger_accounts a where a.id = $1`
const NEXT_ACCOUNTS = `select max(n.account_id) as last from (
  select distinct account_id from gw_ledger_tail where account_id > $1 order by account_id limit $2) n`
const FOLDING = "select pg_try_advisory_xact_lock(hashtextextended('gw_ledger_tail', 0)) as mine"
const BOOKED = `select a.id, a.may_overdraw, a.balance_cents + ${TAIL_SUM} as balance, coalesce(m.moved, 0) as moved
  from gw_ledger_accounts a left join (
    select l.account, sum(l.amount) as moved from (
      select credit_account as account, amount_cents as amount from gw_ledger_transfers
      union all select debit_account, -amount_cents from gw_ledger_transfers) l group by l.account
  ) m on m.account = a.id`
const TOTALS = `select (select count(*) from gw_ledger_transfers) as transfers,
  coalesce(sum(b.balance), 0) as total from (${BOOKED}) b`
const WRONG = `select b.id from (${BOOKED}) b
  where b.balance <> b.moved or (b.may_overdraw = 0 and b.balance < 0) order by b.id limit 100`

/** Takes the whole tails of a range of accounts into their balances, all or nothing. */
const FOLD: Readonly<Record<SqlDialect, readonly string[]>> = {
  // One statement: rows that another transaction adds meanwhile are neither summed nor deleted.
  postgres: [
    `with folded as (
        delete from gw_ledger_tail where account_id > $1 and account_id <= $2 returning account_id, amount_cents
      ), sums as (select account_id, sum(amount_cents) as amount from folded group by account_id)
      update gw_ledger_accounts a set balance_cents = a.balance_cents + sums.amount from sums where a.id = sums.account_id`,
  ],
  // A transaction has the database for itself.
  sqlite: [
    `update gw_ledger_accounts as a set balance_cents = balance_cents + ${TAIL_SUM} where a.id in (
        select account_id from gw_ledger_tail where account_id > $1 and account_id <= $2)`,
    'delete from gw_ledger_tail where account_id > $1 and account_id <= $2',
  ],
}

/** The ledger in SQL. */
export function createLedger(db: SqlClient, dialect: SqlDialect): Ledger {
  return {
    async transfer(tx, transfer, now) {
      const { id, debit, credit, amountCents, cause } = transfer
      if (!Number.isSafeInteger(amountCents) || amountCents < 1) {
        throw new TypeError(`amountCents must be a safe integer of at least 1, not ${String(amountCents)}`)
      }
      if (holdsUserMoney(debit)) checkCover(transfer)
      const overdraw = (account: string): number => (mayOverdraw(account) ? 1 : 0)
      await rows(tx, OPEN_ACCOUNTS, [debit, overdraw(debit), credit, overdraw(credit)])
      if (dialect === 'postgres') await rows(tx, LOCK, [debit])
      const inserted = await rows(tx, INSERT, [id, credit, amountCents, cause, now, debit])
      if (inserted.length === 1) return 'done'
      const [found] = await rows(tx, FIND, [id])
      if (!found) return 'insufficient'
      const same =
        toText(found['debit_account']) === debit &&
        toText(found['credit_account']) === credit &&
        toInteger(found['amount_cents']) === amountCents
      return same ? 'repeated' : 'conflict'
    },
    async balance(on, account) {
      const [row] = await rows(on, BALANCE, [account])
      return row ? toInteger(row['balance']) : 0
    },
    async fold(accounts, report) {
      for (let last = ''; ; ) {
        const [row] = await rows(db, NEXT_ACCOUNTS, [last, accounts])
        if (!row || row['last'] === null) return
        const range = [last, toText(row['last'])] as const
        last = range[1]
        await db.transaction(tx => foldRange(tx, dialect, range)).catch(report)
      }
    },
    check: () =>
      db.transaction(async tx => {
        // Both statements must see one and the same ledger.
        if (dialect === 'postgres') {
          await rows(tx, 'set transaction isolation level repeatable read')
          await rows(tx, 'set local statement_timeout = 0')
        }
        const [totals] = await rows(tx, TOTALS)
        const wrong = await rows(tx, WRONG)
        return {
          transfers: toInteger(totals?.['transfers']),
          sumCents: toInteger(totals?.['total']),
          wrongAccounts: wrong.map(row => toText(row['id'])),
        }
      }),
  }
}

/** Throws unless a debit of a user's account is covered. */
function checkCover({ id, debit, amountCents, cover }: Transfer): void {
  const wrong = (what: string): never => {
    throw new TypeError(`transfer ${id} debits ${debit}: ${what}`)
  }
  if (!cover) return wrong('it needs the hold that covers it, or a named exemption')
  if ('exempt' in cover) return
  if (debit !== ledgerAccounts.user(cover.accountId)) wrong('its hold is of another account')
  // What was asked for, not what counters hold: where no cap applies, nothing is counted.
  const { amountCents: most, currency } = cover.requested
  if (currency !== 'USD' || most < amountCents)
    wrong(`its hold is of ${most} ${currency}, not ${amountCents} USD`)
}

/** Folds unless another host is at it: two that lock accounts in different orders would wait for each other. */
async function foldRange(
  tx: SqlQueries,
  dialect: SqlDialect,
  range: readonly [string, string],
): Promise<void> {
  if (dialect === 'postgres' && (await rows(tx, FOLDING))[0]?.['mine'] !== true) return
  for (const text of FOLD[dialect]) await rows(tx, text, range)
}
