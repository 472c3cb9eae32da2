import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { defer, rowLock, toInteger } from '@gatewright/kernel/internal/sql'
import { ledgerAccounts } from '@gatewright/host/internal'
import type { EventOutcome } from '@gatewright/host'
import type { NewWithdrawal, WithdrawalReport } from '../../providers/withdrawals/port.ts'
import { addObject } from '../../product/provider-objects.ts'
import { withdrawalEndings, type WithdrawalServices } from './endings.ts'
import {
  entryOf,
  isOpen,
  KIND,
  SEND_JOB,
  anyWithdrawal,
  withdrawalTable,
  type Withdrawal,
} from './withdrawal.ts'

/** The withdrawals of all accounts. Every change locks the row of the withdrawal first, then caps, then ledger. */
export interface WithdrawalRecords {
  /** Holds the money and stores the withdrawal, whose id must be new. `insufficient`: the balance is too small; roll the transaction back. */
  create(
    tx: SqlQueries,
    withdrawal: NewWithdrawal &
      Pick<Withdrawal, 'id' | 'accountId' | 'provider' | 'hold'> & {
        /** The key that asked for it. Default: none. */
        readonly keyId?: string
      },
    now: EpochMs,
  ): Promise<Withdrawal | 'insufficient'>
  /** Returns the withdrawals of an account that are open to polling, newest first. */
  openToPolling(db: SqlQueries, accountId: string, now: EpochMs): Promise<Withdrawal[]>
  setPolling(
    tx: SqlQueries,
    withdrawal: Pick<Withdrawal, 'accountId' | 'id'>,
    until: EpochMs | null,
  ): Promise<void>
  /** Applies a report. After a final state no report moves money: what it says that is new is kept with `attention`, as excess. */
  report(
    tx: SqlQueries,
    provider: string,
    report: WithdrawalReport & { readonly id: string },
    now: EpochMs,
  ): Promise<EventOutcome>
  /** Records that the outcome of a call to the provider is unknown. */
  lost(tx: SqlQueries, accountId: string, id: string): Promise<void>
  /**
   * Applies the decision of an operator: ends an open withdrawal, or clears the attention of one that ended in that state. For
   * any other it changes nothing and returns undefined. `being_sent`: nothing was changed, because a worker is about to send a
   * withdrawal that the operator wants to fail, so the provider may still accept it.
   */
  resolve(
    tx: SqlQueries,
    id: string,
    decision: { readonly status: 'completed' | 'failed'; readonly reference: string },
    now: EpochMs,
  ): Promise<Withdrawal | 'being_sent' | undefined>
}

const SET_POLLING = 'update gw_withdrawals set open_to_polling_until = $3 where account_id = $1 and id = $2'

/** Makes the records of withdrawals in a SQL database. */
export function withdrawalRecords(services: WithdrawalServices): WithdrawalRecords {
  const { money } = services
  const { end, keepLate, recordEvent } = withdrawalEndings(services)

  return {
    async create(tx, withdrawal, now) {
      const { id, accountId, provider, amountCents, feeCents, destination, hold } = withdrawal
      const stored: Withdrawal = {
        id,
        accountId,
        provider,
        status: 'pending',
        attention: null,
        reason: null,
        txHash: null,
        amountCents,
        feeCents,
        excessCents: 0,
        destination,
        relay: null,
        hold,
        openToPollingUntil: null,
        createdAt: now,
        updatedAt: now,
      }
      await withdrawalTable.add(tx, stored)
      await addObject(tx, KIND, stored)
      const transfer = {
        id,
        debit: ledgerAccounts.user(accountId),
        cover: hold,
        amountCents,
        cause: KIND,
        credit: ledgerAccounts.held(accountId, 'withdrawals'),
      }
      const result = await money.move(
        tx,
        transfer,
        [{ ...entryOf(stored, 'pending'), keyId: withdrawal.keyId ?? null }],
        now,
      )
      if (result === 'insufficient') return result
      if (result !== 'done') throw new Error(`the ledger already has withdrawal ${id}: ${result}`)
      await recordEvent(tx, stored, { to: 'pending', cause: 'created' }, now)
      return stored
    },
    openToPolling(db, accountId, now) {
      const conditions = `where account_id = $1 and open_to_polling_until is not null
        and open_to_polling_until > $2 order by position desc`
      return withdrawalTable.select(db, conditions, [accountId, now])
    },
    async setPolling(tx, { accountId, id }, until) {
      await defer(tx, SET_POLLING, [accountId, id, until])
    },
    async report(tx, provider, { id, ...report }, now) {
      const w = await anyWithdrawal.lock(tx, id)
      if (w?.provider !== provider) return 'unknown'
      if (!isOpen(w.status)) return keepLate(tx, w, report, now)
      const { status, relay, txHash } = report
      if (status === 'completed' || status === 'failed') {
        await end(tx, w, { ...report, status, cause: 'reported' }, now)
        return 'applied'
      }
      // The provider has the withdrawal, so its outcome is not unknown. A report never changes `ready` to `pending`.
      const ready = w.status === 'pending' && status === 'ready'
      if (!ready && w.attention === null) return 'ignored'
      const to = ready ? 'ready' : w.status
      const known = { relay: relay ?? w.relay, txHash: txHash ?? w.txHash, attention: null }
      const updated = await withdrawalTable.update(tx, w, { ...known, status: to, updatedAt: now })
      if (ready) await recordEvent(tx, updated, { from: w.status, to, cause: 'reported' }, now)
      return 'applied'
    },
    async lost(tx, accountId, id) {
      const text = `update gw_withdrawals set attention = 'outcome_unknown'
        where account_id = $1 and id = $2 and attention is null
        and status in ('pending', 'ready')`
      await rows(tx, text, [accountId, id])
    },
    async resolve(tx, id, { status, reference }, now) {
      const w = await anyWithdrawal.lock(tx, id)
      if (!w) return undefined
      if (isOpen(w.status)) {
        if (status === 'failed' && (await isLeased(tx, w, now))) return 'being_sent'
        const reason = status === 'failed' ? 'The withdrawal could not be made.' : null
        const none = { txHash: null, paidCents: null, relay: null, reason }
        return end(tx, w, { ...none, status, cause: 'operator', detail: reference }, now)
      }
      if (w.attention === null || w.status !== status) return undefined
      const settled = await withdrawalTable.update(tx, w, { attention: null, updatedAt: now })
      await recordEvent(tx, settled, { from: status, to: status, cause: 'resolved', detail: reference }, now)
      return settled
    },
  }
}

/**
 * Whether a worker runs the job of a withdrawal. Locks the job, so that no worker leases it meanwhile. The withdrawal must be
 * locked first: workers lock in the same order.
 */
async function isLeased(tx: SqlQueries, { accountId, id }: Withdrawal, now: EpochMs): Promise<boolean> {
  const text = `select leased_until from gw_jobs
    where account_id = $1 and kind = $2 and subject_id = $3${rowLock(tx, 'for update')}`
  const [job] = await rows(tx, text, [accountId, SEND_JOB, id])
  return job !== undefined && toInteger(job['leased_until']) > now
}
