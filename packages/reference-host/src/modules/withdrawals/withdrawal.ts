import type { EpochMs } from '@gatewright/kernel'
import { toInteger, toText, type SqlRow } from '@gatewright/kernel/sql'
import type { SpendHold } from '@gatewright/scope-guard'
import type { TransactionEntry } from '../../ledger/transactions.ts'
import type { NewWithdrawal, WithdrawalReport, WithdrawalStatus } from '../../providers/withdrawals.ts'

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

/** The kind of the job that sends a withdrawal and asks about it until it ends, by the withdrawal's id. */
export const SEND_JOB = 'withdrawal.send'
/** The kind of withdrawals in events, transactions and causes of transfers. */
export const KIND = 'withdrawal'

/** Whether a withdrawal has not ended. */
export function isOpen(status: WithdrawalStatus): boolean {
  return status === 'pending' || status === 'ready'
}

/** The transaction row of a withdrawal. */
export function entryOf(
  { id, accountId, amountCents }: Withdrawal,
  status: TransactionEntry['status'],
): TransactionEntry {
  const source = { kind: KIND, id }
  return {
    accountId,
    source,
    type: 'collateral',
    status,
    amountCents,
    direction: 'debit',
    description: 'Withdrawal',
  }
}

/** Reads a row of `gw_withdrawals`. */
export function toWithdrawal(row: SqlRow): Withdrawal {
  const orNull = (name: string): string | null => (row[name] === null ? null : toText(row[name]))
  const relay = orNull('relay')
  const until = row['open_to_polling_until']
  return {
    id: toText(row['id']),
    position: toInteger(row['position']),
    accountId: toText(row['account_id']),
    provider: toText(row['provider']),
    status: toText(row['status']) as WithdrawalStatus,
    attention: orNull('attention') as Attention | null,
    reason: orNull('reason'),
    txHash: orNull('tx_hash'),
    amountCents: toInteger(row['amount_cents']),
    feeCents: toInteger(row['fee_cents']),
    excessCents: toInteger(row['excess_cents']),
    destination: JSON.parse(toText(row['destination'])) as Withdrawal['destination'],
    relay: relay === null ? null : (JSON.parse(relay) as Withdrawal['relay']),
    hold: JSON.parse(toText(row['hold'])) as SpendHold,
    openToPollingUntil: until === null ? null : toInteger(until),
    createdAt: toInteger(row['created_at']),
    updatedAt: toInteger(row['updated_at']),
  }
}
