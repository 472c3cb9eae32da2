import type { EpochMs } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import type { Guard, SpendStorage } from '@gatewright/scope-guard'
import { type Money, events, type EventOutcome } from '@gatewright/host'
import { ledgerAccounts } from '@gatewright/host/internal'
import { systemAccounts } from '../../product/system-accounts.ts'
import type { WithdrawalReport } from '../../providers/withdrawals/port.ts'
import { entryOf, isOpen, KIND, withdrawalTable, type Withdrawal } from './withdrawal.ts'

/** The services that the records use. */
export interface WithdrawalServices {
  readonly money: Money
  readonly guard: Guard
  readonly spendStorage: (tx: SqlQueries) => SpendStorage
}

type End = Omit<WithdrawalReport, 'status'> & {
  readonly status: 'completed' | 'failed'
  readonly cause: string
  readonly detail?: string
}

/** The content of the event of a change. */
interface Change {
  readonly from?: string
  readonly to: string
  readonly cause: string
  readonly detail?: string | null
  readonly keep?: boolean
}

/** Makes the functions that change a stored withdrawal. The withdrawal must be locked in `tx`. */
export function withdrawalEndings({ money, guard, spendStorage }: WithdrawalServices) {
  const recordEvent = (tx: SqlQueries, w: Withdrawal, change: Change, now: EpochMs): Promise<void> => {
    const { id, accountId, amountCents } = w
    return events.record(tx, { accountId, subject: { kind: KIND, id }, amountCents, ...change }, now)
  }

  /** Moves the held money to the provider's account or back to the balance, and ends the hold under the caps. */
  const end = async (tx: SqlQueries, w: Withdrawal, to: End, now: EpochMs): Promise<Withdrawal> => {
    const { id, accountId, amountCents, feeCents, hold } = w
    const { status, cause, detail = null, reason, txHash, paidCents, relay } = to
    const done = (result: Awaited<ReturnType<typeof money.move>>): void => {
      if (result !== 'done')
        throw new Error(`withdrawal ${id} was open, but its money was not held: ${result}`)
    }
    const common = { debit: ledgerAccounts.held(accountId, 'withdrawals'), cause: KIND } as const
    const from = { ...common, cover: { exempt: 'held_before' } } as const
    const expected = amountCents - feeCents
    if (status === 'completed') {
      if (hold.held) await guard.settle(hold, undefined, spendStorage(tx))
      const paid = { ...from, id: `${id}:paid`, credit: systemAccounts.withdrawals(w.provider) }
      done(await money.move(tx, { ...paid, amountCents: expected }, [entryOf(w, 'completed')], now))
      const fee = { ...from, id: `${id}:fee`, credit: systemAccounts.fees, amountCents: feeCents }
      if (feeCents > 0) done(await money.move(tx, fee, [], now))
    } else {
      if (hold.held) await guard.release(hold, spendStorage(tx))
      const back = { ...from, id: `${id}:back`, credit: ledgerAccounts.user(accountId), amountCents }
      done(await money.move(tx, back, [entryOf(w, 'failed')], now))
    }
    const differs = status === 'completed' && paidCents !== null && paidCents !== expected
    const ended = await withdrawalTable.update(tx, w, {
      status,
      reason,
      txHash: txHash ?? w.txHash,
      relay: relay ?? w.relay,
      attention: differs ? 'amount_differs' : null,
      excessCents: differs ? Math.max(0, paidCents - expected) : 0,
      updatedAt: now,
    })
    await recordEvent(tx, ended, { from: w.status, to: status, cause, detail }, now)
    return ended
  }

  /**
   * Keeps a report of a withdrawal that has ended, if it contradicts the final state or names more money than was reported before. Only
   * what is more is added to the excess, so that a repeat changes nothing. The events say how much of it was reported as returned.
   */
  const keepLate = async (
    tx: SqlQueries,
    w: Withdrawal,
    { status, paidCents }: WithdrawalReport,
    now: EpochMs,
  ): Promise<EventOutcome> => {
    const contradicts = status !== w.status
    if (isOpen(status) || (status === 'failed' && !contradicts)) return 'ignored'
    const paid = contradicts ? 'paid_after_failure' : 'amount_differs'
    const attention = status === 'failed' ? 'returned' : paid
    const history = await events.history(tx, w.accountId, { kind: KIND, id: w.id })
    const returnedCents = history
      .filter(({ cause }) => cause === 'returned')
      .reduce((sum, { amountCents }) => sum + (amountCents as number), 0)
    const expected = w.amountCents - w.feeCents
    const booked = contradicts ? 0 : expected
    const known = status === 'failed' ? returnedCents : w.excessCents - returnedCents
    const amountCents = Math.max(0, (paidCents ?? expected) - booked - known)
    const isKept = !contradicts || history.some(({ cause }) => cause === attention)
    if (amountCents === 0 && isKept) return 'ignored'
    const excessCents = w.excessCents + amountCents
    await withdrawalTable.update(tx, w, { attention, excessCents, updatedAt: now })
    const change = { from: w.status, to: w.status, cause: attention, keep: true }
    await recordEvent(tx, { ...w, amountCents }, change, now)
    return 'applied'
  }
  return { end, keepLate, recordEvent }
}
