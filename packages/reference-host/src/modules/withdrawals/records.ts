import type { EpochMs } from '@gatewright/kernel'
import { rows, toInteger, type SqlDialect, type SqlQueries } from '@gatewright/kernel/sql'
import { ledgerAccounts } from '../../ledger/accounts.ts'
import type { NewWithdrawal, WithdrawalReport } from '../../providers/withdrawals.ts'
import { ownedRows, type OwnedRows } from '../../records/owned-rows.ts'
import type { EventOutcome } from '../system/provider-events.ts'
import { withdrawalEndings, type WithdrawalServices } from './endings.ts'
import { entryOf, isOpen, KIND, SEND_JOB, toWithdrawal, type Withdrawal } from './withdrawal.ts'

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
   * undefined, and changes nothing, for any other. `being_sent`, and nothing is changed: a worker is about to send the withdrawal that
   * is to fail, so the provider may take it yet.
   */
  resolve(
    tx: SqlQueries,
    id: string,
    decision: { readonly status: 'completed' | 'failed'; readonly reference: string },
    now: EpochMs,
  ): Promise<Withdrawal | 'being_sent' | undefined>
}

const OPEN = "status in ('pending', 'ready')"

/** Makes the records of withdrawals in a SQL database. */
export function withdrawalRecords(services: WithdrawalServices): WithdrawalRecords {
  const { dialect, money } = services
  const { find, insert, lock, page } = ownedRows(dialect, 'gw_withdrawals', toWithdrawal)
  const findAny: WithdrawalRecords['findAny'] = async (db, id) => {
    const [row] = await rows(db, 'select * from gw_withdrawals where id = $1', [id])
    return row && toWithdrawal(row)
  }
  const lockAny = async (tx: SqlQueries, id: string): Promise<Withdrawal | undefined> => {
    const known = await findAny(tx, id)
    return known && lock(tx, known.accountId, id)
  }
  const { end, keepLate, recordEvent, update } = withdrawalEndings(services)

  return {
    find,
    findAny,
    lock,
    page,
    async create(tx, withdrawal, now) {
      const { id, accountId, provider, amountCents, feeCents, destination, hold } = withdrawal
      const stored = await insert(tx, {
        id,
        account_id: accountId,
        provider,
        status: 'pending',
        amount_cents: amountCents,
        fee_cents: feeCents,
        destination: JSON.stringify(destination),
        hold: JSON.stringify(hold),
        created_at: now,
        updated_at: now,
      })
      if (!stored) throw new Error(`withdrawal ${id} exists already`)
      const transfer = {
        id,
        debit: ledgerAccounts.user(accountId),
        cover: hold,
        amountCents,
        cause: KIND,
        credit: ledgerAccounts.held(accountId, 'withdrawals'),
      }
      const result = await money.move(tx, transfer, [entryOf(stored, 'pending')], now)
      if (result === 'insufficient') return result
      if (result !== 'done') throw new Error(`the ledger already has withdrawal ${id}: ${result}`)
      await recordEvent(tx, stored, { to: 'pending', cause: 'created' }, now)
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
      if (ready) await recordEvent(tx, updated, { from: w.status, to, cause: 'reported' }, now)
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
        if (status === 'failed' && (await isLeased(dialect, tx, id, now))) return 'being_sent'
        const reason = status === 'failed' ? 'The withdrawal could not be made.' : null
        const none = { txHash: null, paidCents: null, relay: null, reason }
        return end(tx, w, { ...none, status, cause: 'operator', detail: reference }, now)
      }
      if (w.attention === null || w.status !== status) return undefined
      const settled = await update(tx, { ...w, attention: null }, now)
      await recordEvent(tx, settled, { from: status, to: status, cause: 'resolved', detail: reference }, now)
      return settled
    },
  }
}

/** Whether a worker runs the job of a withdrawal. Locks the job, after the withdrawal as workers do, so that no worker leases it meanwhile. */
async function isLeased(dialect: SqlDialect, tx: SqlQueries, id: string, now: EpochMs): Promise<boolean> {
  const forUpdate = dialect === 'postgres' ? ' for update' : ''
  const text = `select leased_until from gw_jobs where kind = $1 and subject_id = $2${forUpdate}`
  const [job] = await rows(tx, text, [SEND_JOB, id])
  return job !== undefined && toInteger(job['leased_until']) > now
}
