import type { EpochMs } from '@gatewright/kernel'
import { migrate, rows, type SqlClient, type SqlQueries, type SqlRow } from '@gatewright/kernel/sql'
import { defer, rowsAhead, toInteger, toText } from '@gatewright/kernel/internal/sql'
import type { SpendHold } from '@gatewright/scope-guard'
import {
  holdsUserMoney,
  ledgerAccounts,
  mayOverdraw,
  ownerOf,
  type OwnedAccount,
  type SystemAccount,
} from './accounts.ts'
import {
  FIND,
  FIND_USES,
  FOLD_LOCK_LIMIT,
  FOLD_OWN,
  FOLD_SYSTEM,
  FORGET,
  INSERT_CREDIT,
  INSERT_CREDIT_TAIL,
  INSERT_LEGS,
  INSERT_SYSTEM_DEBIT,
  INSERT_TAIL,
  LOCK,
  LOCK_FREE,
  MAX_PENDING,
  NEXT_ACCOUNTS,
  OPEN_ACCOUNT,
  OWN_BALANCE,
  READ_OTHER,
  READ_OWN,
  REFER,
  REFERRED,
  SYSTEM_BALANCE,
  TAKE,
} from './statements.ts'
import { hostDialect } from '../records/host-dialect.ts'
import { DDL } from './ledger-tables.ts'
import { addUp, type LedgerSums } from './add-up.ts'

/**
 * The justification of a debit of a user's account: a hold that was reserved under the caller's policies, or the reason why no
 * policy applies.
 */
type Cover =
  | SpendHold
  /**
   * `own_money`: the money goes to another account of the same user. `held_before`: it leaves a `held:` account, which it
   * entered under a hold. `operator_correction`: an operator booked it.
   */
  | { readonly exempt: 'own_money' | 'held_before' | 'operator_correction' }

/** The account to debit and, for a user's account, what covers the debit. */
export type Debit =
  | { readonly debit: SystemAccount; readonly cover?: undefined }
  | { readonly debit: OwnedAccount; readonly cover: Cover }

/** One movement of money from `debit` to `credit`. */
export type Transfer = {
  /**
   * Identifies the event behind the transfer, such as `payin:payin_1`. Each id moves money of an account, in or out, only once, ever:
   * a transfer is refused if either of its accounts has another one with its id.
   */
  readonly id: string
  /**
   * The id comes from outside and names no account, such as a provider's payment or an operator's reference: it moves money only
   * once on the whole host. Default false.
   */
  readonly isExternal?: boolean
  /** The account whose business it is. Only for a transfer between two accounts of the house or outside; '' for the operator's own. */
  readonly accountId?: string
  readonly credit: string
  /** Integer US cents, at least 1. */
  readonly amountCents: number
  /** One word for people to read. */
  readonly cause: string
} & Debit

/**
 * The outcome of a transfer. Money moves only with `done`. `repeated`: the same transfer was made before.
 * `conflict`: another transfer has this id (of these accounts, or `isExternal`). `insufficient`: the debited account holds too little.
 */
export type TransferResult = 'done' | 'repeated' | 'conflict' | 'insufficient'

/**
 * The double-entry ledger: append-only transfers between two accounts, so that all balances add up to zero. The database itself
 * rejects a statement that would store a balance below zero for an account that must not have one, or change a transfer: on SQLite by
 * a trigger, on Postgres because the role of the hosts may not (docs/production.md).
 */
export interface Ledger {
  /**
   * Moves money in the caller's transaction. Simultaneous transfers from one account run one after another, each on the balance
   * after the previous one. A debit is taken from the stored balance, and folds the account if that is too low; that of a user's account also does once
   * 64 credits are pending, so that reads need not add up more. Of simultaneous transfers with one id, one moves money; one that debits another account may fail, and gets
   * `conflict` when it is tried again. Throws a `TypeError` when a debit of a user's account lacks a hold of that account for at least
   * that amount: a programming error that must roll back the transaction. Faults: `ERR_STORE_*`.
   */
  transfer(tx: SqlQueries, transfer: Transfer, now: EpochMs): Promise<TransferResult>
  /** An account's balance in cents: its credits minus its debits. 0 for an unknown account. */
  balance(db: SqlQueries, account: string): Promise<number>
  /** When a transfer that debits an account, or credits it from outside, was made; undefined for an unknown id. */
  transferredAt(db: SqlQueries, accountId: string, id: string): Promise<EpochMs | undefined>
  /**
   * Adds pending amounts to the stored balances, `accounts` accounts per transaction, so that reads stay fast. Transfers and other
   * folds may run at the same time: it leaves accounts that others have locked for the next time, so that no transfer fails because of
   * it. A failing transaction is reported, and the next accounts are folded.
   */
  fold(accounts: number, report: (error: unknown) => void): Promise<void>
  /**
   * Recomputes every balance: from all transfers, or with `sinceChecked` from those since the last check that found nothing wrong and the
   * sums there. Reads all accounts, and these transfers. What differs is added up again under the lock of its account before it is
   * reported, so that transfers which commit meanwhile are no difference, on several machines neither. On Postgres each statement may take
   * `statementMs`; default: no limit. `since` is where this check began, undefined if it added up everything. `position` is where the next
   * check can begin if this one and whatever is compared with it finds nothing wrong; undefined on SQLite. Fault:
   * `ERR_STORE_UNAVAILABLE`, also if a statement took too long.
   */
  check(statementMs?: number, sinceChecked?: boolean): Promise<LedgerSums>
}

/** Migrates the ledger's tables. Can be repeated, and is safe when many hosts start simultaneously. */
export async function migrateLedger(db: SqlClient): Promise<void> {
  await migrate(db, { namespace: 'ledger', ddl: DDL })
}

/** Creates the ledger over SQL. */
export function createLedger(db: SqlClient): Ledger {
  return {
    async transfer(tx, transfer, now) {
      const { id, amountCents } = transfer
      if (!Number.isSafeInteger(amountCents) || amountCents < 1) {
        throw new TypeError(`amountCents must be a safe integer of at least 1, not ${String(amountCents)}`)
      }
      if (holdsUserMoney(transfer.debit)) assertCovered(transfer)
      const accountId = accountOf(transfer)
      if (transfer.isExternal && (await rows(tx, REFER, [id, accountId])).length === 0) {
        const [referred] = await rows(tx, REFERRED, [id])
        const found = await findDebit(tx, toText(referred?.['account_id']), id)
        return found && isSame(found, transfer) ? 'repeated' : 'conflict'
      }
      if (await insert(tx, transfer, accountId, now)) return 'done'
      const uses = await rows(tx, FIND_USES, [accountId, id, ownerOf(transfer.credit) ?? accountId])
      if (uses.some(leg => isSame(leg, transfer))) return 'repeated'
      if (transfer.isExternal) await rows(tx, FORGET, [id])
      return uses.length > 0 ? 'conflict' : 'insufficient'
    },
    async balance(on, account) {
      const owner = ownerOf(account)
      const [row] =
        owner === undefined
          ? await rows(on, SYSTEM_BALANCE, [account])
          : await rows(on, OWN_BALANCE, [owner, account])
      return row ? toInteger(row['balance']) : 0
    },
    async transferredAt(on, accountId, id) {
      const row = await findDebit(on, accountId, id)
      return row && toInteger(row['created_at'])
    },
    async fold(accounts, report) {
      for (let last = ''; ; ) {
        const found = await rows(db, NEXT_ACCOUNTS, [last, accounts])
        const names = found.map(row => toText(row['id']))
        if (names.length === 0) return
        last = names.at(-1) as string
        await db
          .transaction(tx => foldAccounts(tx, names))
          .catch((error: unknown) => {
            if (!isLockTimeout(error)) report(error)
          })
      }
    },
    check: (statementMs = 0, sinceChecked = false) => addUp(db, statementMs, sinceChecked),
  }
}

/** The account whose rows have the debit of a transfer, and make its id unique. */
function accountOf({ id, debit, credit, accountId }: Transfer): string {
  const account = ownerOf(debit) ?? ownerOf(credit) ?? accountId
  if (account === undefined)
    throw new TypeError(`transfer ${id} moves money between ${debit} and ${credit}: it needs accountId`)
  return account
}

/** Inserts a transfer. False: its id exists, or money is missing. */
async function insert(tx: SqlQueries, transfer: Transfer, accountId: string, now: EpochMs): Promise<boolean> {
  const { id, debit, credit, amountCents, cause } = transfer
  const other = ownerOf(credit) ?? accountId
  const open = (): Promise<void> => defer(tx, OPEN_ACCOUNT, [other, credit])
  const values = [accountId, id, debit, credit, amountCents, cause, now]
  if (holdsUserMoney(debit)) {
    const taken = await rowsAhead(tx, TAKE, [accountId, debit, amountCents])
    // The statements name one account each, so that each runs on one machine.
    const readOther = other === accountId ? () => [] : await rowsAhead(tx, READ_OTHER, [other, id, credit])
    const [own] = (await rows(tx, READ_OWN, [accountId, id, credit, debit])) as [SqlRow]
    const [credited = own] = readOther()
    if (taken().length === 0 && !(await takeFolded(tx, accountId, debit, amountCents))) return false
    if ([own, credited].some(row => toInteger(row['uses']) > 0)) {
      await defer(tx, TAKE, [accountId, debit, -amountCents])
      return false
    }
    if (holdsUserMoney(credit) && toInteger(credited['opened']) === 0) await open()
    await defer(tx, INSERT_LEGS, [...values, other])
    await defer(tx, INSERT_CREDIT_TAIL, [credit, other, id, amountCents])
    if (toInteger(own['pending']) >= MAX_PENDING)
      for (const text of FOLD_OWN[hostDialect(tx)]) await defer(tx, text, [accountId, debit])
    return true
  }
  if (holdsUserMoney(credit)) await open()
  const isHouse = !mayOverdraw(debit)
  if (isHouse && !(await takeFromHouse(tx, debit, amountCents))) return false
  if ((await rows(tx, INSERT_SYSTEM_DEBIT, values)).length === 0) {
    if (isHouse) await defer(tx, TAKE, ['', debit, -amountCents])
    return false
  }
  await defer(tx, INSERT_CREDIT, values)
  if (isHouse) await defer(tx, INSERT_CREDIT_TAIL, [credit, other, id, amountCents])
  else await defer(tx, INSERT_TAIL, [debit, accountId, credit, other, id, amountCents])
  return true
}

/** Takes an amount from a house account, if need be after folding it. False: it holds less. */
async function takeFromHouse(tx: SqlQueries, debit: string, amountCents: number): Promise<boolean> {
  if ((await rows(tx, TAKE, ['', debit, amountCents])).length > 0) return true
  // No transfer creates the account of a house.
  await defer(tx, OPEN_ACCOUNT, ['', debit])
  return takeFolded(tx, '', debit, amountCents)
}

/** Folds an account of the house ('') or of a user, and takes an amount from it. False: it holds less. */
async function takeFolded(
  tx: SqlQueries,
  accountId: string,
  debit: string,
  amountCents: number,
): Promise<boolean> {
  if (tx.dialect === 'postgres') await defer(tx, LOCK, [accountId, debit])
  for (const text of (accountId === '' ? FOLD_SYSTEM : FOLD_OWN)[hostDialect(tx)])
    await defer(tx, text, [accountId, debit])
  return (await rows(tx, TAKE, [accountId, debit, amountCents])).length > 0
}

/** Reads the debit of a transfer. */
async function findDebit(on: SqlQueries, accountId: string, id: string): Promise<SqlRow | undefined> {
  const [row] = await rows(on, FIND, [accountId, id])
  return row
}

/** Whether a leg is the debit of a transfer. A credit never is: its amount is positive. */
function isSame(found: SqlRow, { debit, credit, amountCents }: Transfer): boolean {
  return (
    toText(found['ledger_account']) === debit &&
    toText(found['counterpart']) === credit &&
    toInteger(found['amount_cents']) === -amountCents
  )
}

/** Throws unless a debit of a user's account is covered. */
function assertCovered({ id, debit, credit, amountCents, cover }: Transfer): void {
  const wrong = (what: string): never => {
    throw new TypeError(`transfer ${id} debits ${debit}: ${what}`)
  }
  if (!cover) return wrong('it needs the hold that covers it, or a named exemption')
  if ('exempt' in cover) {
    if (cover.exempt === 'own_money' && ownerOf(credit) !== ownerOf(debit))
      wrong('own_money does not cover a transfer to somebody else')
    if (cover.exempt === 'held_before' && !debit.startsWith('held:'))
      wrong('held_before covers debits of held accounts only')
    return
  }
  if (debit !== ledgerAccounts.user(cover.accountId)) wrong('its hold belongs to another account')
  // The requested amount counts, because the hold is empty if no cap applies.
  const { amountCents: most, currency } = cover.requested
  if (currency !== 'USD' || most < amountCents)
    wrong(`its hold covers ${most} ${currency}, not ${amountCents} USD`)
}

/** Folds those of some accounts that no other transaction has locked. Each statement names one account, and they travel together. */
async function foldAccounts(tx: SqlQueries, names: readonly string[]): Promise<void> {
  const accounts = names.map(id => ({ accountId: ownerOf(id) ?? '', id }))
  const dialect = hostDialect(tx)
  if (dialect === 'postgres') await defer(tx, FOLD_LOCK_LIMIT)
  const locked: (() => boolean)[] = []
  for (const { accountId, id } of accounts) {
    // No transfer creates the account of a house or one outside.
    if (accountId === '') await defer(tx, OPEN_ACCOUNT, ['', id])
    const found = await rowsAhead(tx, LOCK_FREE[dialect], [accountId, id])
    locked.push(() => found().length > 0)
  }
  await rows(tx, 'select 1')
  for (const [index, { accountId, id }] of accounts.entries()) {
    if (!locked[index]?.()) continue
    for (const text of (accountId === '' ? FOLD_SYSTEM : FOLD_OWN)[dialect])
      await defer(tx, text, [accountId, id])
  }
}

/** Whether a statement has waited for a lock for as long as it may. */
function isLockTimeout(error: unknown): boolean {
  const { cause } = error as { readonly cause?: unknown }
  return (cause as { readonly code?: unknown } | undefined)?.code === '55P03'
}
