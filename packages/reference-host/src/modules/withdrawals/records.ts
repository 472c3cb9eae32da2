import type { EpochMs } from '@gatewright/kernel'
import {
  rows,
  toInteger,
  toText,
  type SqlDialect,
  type SqlQueries,
  type SqlRow,
} from '@gatewright/kernel/sql'
import type { Guard, SpendHold, SpendStorage } from '@gatewright/scope-guard'
import { ledgerAccounts } from '../../ledger/accounts.ts'
import type { TransferResult } from '../../ledger/ledger.ts'
import type { Money } from '../../ledger/money.ts'
import type { TransactionEntry } from '../../ledger/transactions.ts'
import type { NewWithdrawal, WithdrawalReport, WithdrawalStatus } from '../../providers/withdrawals.ts'
import type { EventStore } from '../../records/events.ts'
import { ownedRows, type OwnedRows } from '../../records/owned-rows.ts'
import type { EventOutcome } from '../system/provider-events.ts'

/**
 * Why a person must look at a withdrawal. `outcome_unknown`: a call to the provider was lost; money and caps stay held. `amount_differs`:
 * the provider paid another amount. `paid_after_failure`, `returned`: it reported the opposite of the final state.
 */
export type Attention = 'outcome_unknown' | 'amount_differs' | 'paid_after_failure' | 'returned'

/** Money on its way out of an account. */
export interface Withdrawal extends NewWithdrawal, Omit<WithdrawalReport, 'paidCents'> {
  readonly id: string
  readonly position: number
  readonly accountId: string
  readonly provider: string
  readonly attention: Attention | null
  /** Money that the provider moved beyond what was held. The operator books it. */
  readonly excessCents: number
  readonly hold: SpendHold
  /** Until when an equal request of a partner is a poll of this withdrawal; null if it is a new one. */
  readonly openToPollingUntil: EpochMs | null
  readonly createdAt: EpochMs
  readonly updatedAt: EpochMs
}

/** The withdrawals of all accounts. Every change locks the row of the withdrawal first, then caps, then ledger. */
export interface WithdrawalRecords extends Pick<OwnedRows<Withdrawal>, 'find' | 'lock' | 'page'> {
  /** Holds the money and stores the withdrawal. `insufficient`: the balance is too small; roll the transaction back. */
  create(
    tx: SqlQueries,
    withdrawal: NewWithdrawal & Pick<Withdrawal, 'id' | 'accountId' | 'provider' | 'hold'>,
    now: EpochMs,
  ): Promise<Withdrawal | 'insufficient'>
  /** Returns the withdrawal of an id whatever its account is, for the work beside requests. */
  findAny(db: SqlQueries, id: string): Promise<Withdrawal | undefined>
  /** Returns the withdrawals of an account that are open to polling, newest first. */
  openToPolling(db: SqlQueries, accountId: string, now: EpochMs): Promise<Withdrawal[]>
  setPolling(tx: SqlQueries, id: string, until: EpochMs | null): Promise<void>
  openCount(db: SqlQueries, accountId: string): Promise<number>
  /** Applies a report. A report that contradicts a final state moves nothing: it is kept with `attention`. */
  report(
    tx: SqlQueries,
    provider: string,
    report: WithdrawalReport & { readonly id: string },
    now: EpochMs,
  ): Promise<EventOutcome>
  /** Notes that a call to the provider was lost. */
  lost(tx: SqlQueries, id: string): Promise<void>
  /**
   * Applies the decision of an operator: ends an open withdrawal, or settles the attention of one that ended in that state. Returns
   * undefined, and changes nothing, for any other.
   */
  resolve(
    tx: SqlQueries,
    id: string,
    decision: { readonly status: 'completed' | 'failed'; readonly reference: string },
    now: EpochMs,
  ): Promise<Withdrawal | undefined>
}

/** What the records work with. */
interface WithdrawalServices {
  readonly dialect: SqlDialect
  readonly money: Money
  readonly events: EventStore
  readonly guard: Guard
  readonly spendStorage: (tx: SqlQueries) => SpendStorage
}

type End = Omit<WithdrawalReport, 'status'> & {
  readonly status: 'completed' | 'failed'
  readonly cause: string
  readonly detail?: string
}

const KIND = 'withdrawal'
const OPEN = "status in ('pending', 'ready')"
const UPDATE = `update gw_withdrawals set status = $2, attention = $3, reason = $4, tx_hash = $5, relay = $6,
  excess_cents = $7, updated_at = $8 where id = $1 returning *`

/** Whether a withdrawal has not ended. */
export function isOpen(status: WithdrawalStatus): boolean {
  return status === 'pending' || status === 'ready'
}

/** Makes the records of withdrawals in a SQL database. */
export function withdrawalRecords(services: WithdrawalServices): WithdrawalRecords {
  const { dialect, money, events, guard, spendStorage } = services
  const { find, insert, lock, page } = ownedRows(dialect, 'gw_withdrawals', toWithdrawal)
  const findAny: WithdrawalRecords['findAny'] = async (db, id) => {
    const [row] = await rows(db, 'select * from gw_withdrawals where id = $1', [id])
    return row && toWithdrawal(row)
  }
  const lockAny = async (tx: SqlQueries, id: string): Promise<Withdrawal | undefined> => {
    const known = await findAny(tx, id)
    return known && lock(tx, known.accountId, id)
  }
  const update = async (tx: SqlQueries, w: Withdrawal, now: EpochMs): Promise<Withdrawal> => {
    const relay = w.relay === null ? null : JSON.stringify(w.relay)
    const values = [w.id, w.status, w.attention, w.reason, w.txHash, relay, w.excessCents, now]
    const [row] = await rows(tx, UPDATE, values)
    return toWithdrawal(row as SqlRow)
  }
  const tell = (tx: SqlQueries, w: Withdrawal, change: Change, now: EpochMs): Promise<void> => {
    const { id, accountId, amountCents } = w
    return events.record(tx, { accountId, subject: { kind: KIND, id }, amountCents, ...change }, now)
  }

  /** Moves the held money where the withdrawal ends, and ends its hold under the caps. */
  const end = async (tx: SqlQueries, w: Withdrawal, to: End, now: EpochMs): Promise<Withdrawal> => {
    const { id, accountId, amountCents, feeCents, hold } = w
    const { status, cause, detail = null, reason, txHash, paidCents, relay } = to
    const done = (result: TransferResult): void => {
      if (result !== 'done')
        throw new Error(`withdrawal ${id} was open, but its money was not held: ${result}`)
    }
    const common = { debit: ledgerAccounts.held(accountId, 'withdrawals'), cause: KIND } as const
    const from = { ...common, cover: { exempt: 'held_before' } } as const
    const expected = amountCents - feeCents
    if (status === 'completed') {
      if (hold.held) await guard.settle(hold, undefined, spendStorage(tx))
      const paid = { ...from, id: `${id}:paid`, credit: ledgerAccounts.withdrawals(w.provider) }
      done(await money.move(tx, { ...paid, amountCents: expected }, [entryOf(w, 'completed')], now))
      const fee = { ...from, id: `${id}:fee`, credit: ledgerAccounts.fees, amountCents: feeCents }
      if (feeCents > 0) done(await money.move(tx, fee, [], now))
    } else {
      if (hold.held) await guard.release(hold, spendStorage(tx))
      const back = { ...from, id: `${id}:back`, credit: ledgerAccounts.user(accountId), amountCents }
      done(await money.move(tx, back, [entryOf(w, 'failed')], now))
    }
    const differs = status === 'completed' && paidCents !== null && paidCents !== expected
    const ended = await update(
      tx,
      {
        ...{ ...w, status, reason, txHash: txHash ?? w.txHash, relay: relay ?? w.relay },
        attention: differs ? 'amount_differs' : null,
        excessCents: differs ? Math.max(0, paidCents - expected) : 0,
      },
      now,
    )
    await tell(tx, ended, { from: w.status, to: status, cause, detail }, now)
    return ended
  }

  /** Keeps a report that contradicts the final state. Once: a repeat does not ask for attention again. */
  const keepLate = async (
    tx: SqlQueries,
    w: Withdrawal,
    { status, paidCents }: WithdrawalReport,
    now: EpochMs,
  ): Promise<EventOutcome> => {
    if (isOpen(status) || status === w.status) return 'ignored'
    const attention = status === 'completed' ? 'paid_after_failure' : 'returned'
    const history = await events.history(tx, w.accountId, { kind: KIND, id: w.id })
    if (history.some(({ cause }) => cause === attention)) return 'ignored'
    const excessCents = w.excessCents + (paidCents ?? w.amountCents - w.feeCents)
    await update(tx, { ...w, attention, excessCents }, now)
    await tell(tx, w, { from: w.status, to: w.status, cause: attention }, now)
    return 'applied'
  }

  return {
    ...{ find, findAny, lock, page },
    async create(tx, withdrawal, now) {
      const { id, accountId, provider, amountCents, feeCents, destination, hold } = withdrawal
      const stored = await insert(tx, {
        ...{ id, account_id: accountId, provider, status: 'pending' },
        ...{ amount_cents: amountCents, fee_cents: feeCents, destination: JSON.stringify(destination) },
        ...{ hold: JSON.stringify(hold), created_at: now, updated_at: now },
      })
      if (!stored) throw new Error(`withdrawal ${id} exists already`)
      const transfer = {
        ...{ id, debit: ledgerAccounts.user(accountId), cover: hold, amountCents, cause: KIND },
        credit: ledgerAccounts.held(accountId, 'withdrawals'),
      }
      const result = await money.move(tx, transfer, [entryOf(stored, 'pending')], now)
      if (result === 'insufficient') return result
      if (result !== 'done') throw new Error(`the ledger already has withdrawal ${id}: ${result}`)
      await tell(tx, stored, { to: 'pending', cause: 'created' }, now)
      return stored
    },
    async openToPolling(db, accountId, now) {
      const text = `select * from gw_withdrawals where account_id = $1 and open_to_polling_until is not null
        and open_to_polling_until > $2 order by position desc`
      return (await rows(db, text, [accountId, now])).map(toWithdrawal)
    },
    async setPolling(tx, id, until) {
      await rows(tx, 'update gw_withdrawals set open_to_polling_until = $2 where id = $1', [id, until])
    },
    async openCount(db, accountId) {
      const text = `select count(*) as n from gw_withdrawals where account_id = $1 and ${OPEN}`
      return toInteger((await rows(db, text, [accountId]))[0]?.['n'])
    },
    async report(tx, provider, { id, ...report }, now) {
      const w = await lockAny(tx, id)
      if (w?.provider !== provider) return 'unknown'
      if (!isOpen(w.status)) return keepLate(tx, w, report, now)
      const { status, relay, txHash } = report
      if (status === 'completed' || status === 'failed') {
        await end(tx, w, { ...report, status, cause: 'reported' }, now)
        return 'applied'
      }
      // The provider has it, so its outcome is known: it is under way. A report never takes `ready` back.
      const ready = w.status === 'pending' && status === 'ready'
      if (!ready && w.attention === null) return 'ignored'
      const to = ready ? 'ready' : w.status
      const known = { relay: relay ?? w.relay, txHash: txHash ?? w.txHash, attention: null }
      const updated = await update(tx, { ...w, ...known, status: to }, now)
      if (ready) await tell(tx, updated, { from: w.status, to, cause: 'reported' }, now)
      return 'applied'
    },
    async lost(tx, id) {
      const text = `update gw_withdrawals set attention = 'outcome_unknown' where id = $1 and attention is null and ${OPEN}`
      await rows(tx, text, [id])
    },
    async resolve(tx, id, { status, reference }, now) {
      const w = await lockAny(tx, id)
      if (!w) return undefined
      if (isOpen(w.status)) {
        const reason = status === 'failed' ? 'The withdrawal could not be made.' : null
        const none = { txHash: null, paidCents: null, relay: null, reason }
        return end(tx, w, { ...none, status, cause: 'operator', detail: reference }, now)
      }
      if (w.attention === null || w.status !== status) return undefined
      const settled = await update(tx, { ...w, attention: null }, now)
      await tell(tx, settled, { from: status, to: status, cause: 'resolved', detail: reference }, now)
      return settled
    },
  }
}

/** What an event says of a change. */
interface Change {
  readonly from?: string
  readonly to: string
  readonly cause: string
  readonly detail?: string | null
}

function entryOf(
  { id, accountId, amountCents }: Withdrawal,
  status: TransactionEntry['status'],
): TransactionEntry {
  const source = { kind: KIND, id }
  return {
    ...{ accountId, source, type: 'collateral', status, amountCents, direction: 'debit' },
    description: 'Withdrawal',
  }
}

function toWithdrawal(row: SqlRow): Withdrawal {
  const orNull = (name: string): string | null => (row[name] === null ? null : toText(row[name]))
  const relay = orNull('relay')
  const until = row['open_to_polling_until']
  return {
    ...{ id: toText(row['id']), position: toInteger(row['position']), accountId: toText(row['account_id']) },
    provider: toText(row['provider']),
    status: toText(row['status']) as WithdrawalStatus,
    attention: orNull('attention') as Attention | null,
    ...{ reason: orNull('reason'), txHash: orNull('tx_hash') },
    ...{ amountCents: toInteger(row['amount_cents']), feeCents: toInteger(row['fee_cents']) },
    excessCents: toInteger(row['excess_cents']),
    destination: JSON.parse(toText(row['destination'])) as Withdrawal['destination'],
    relay: relay === null ? null : (JSON.parse(relay) as Withdrawal['relay']),
    hold: JSON.parse(toText(row['hold'])) as SpendHold,
    openToPollingUntil: until === null ? null : toInteger(until),
    ...{ createdAt: toInteger(row['created_at']), updatedAt: toInteger(row['updated_at']) },
  }
}
