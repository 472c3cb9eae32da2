import type { SqlQueries } from '@gatewright/kernel/sql'
import type { SpendHold } from '@gatewright/scope-guard'
import {
  type Row,
  defaulted,
  instant,
  integer,
  json,
  nullable,
  oneOf,
  position,
  table,
  text,
} from '@gatewright/host/tables'
import type { TransactionEntry } from '@gatewright/host'
import type { NewWithdrawal, WithdrawalReport, WithdrawalStatus } from '../../providers/withdrawals/port.ts'

/**
 * Why a person must look at a withdrawal. `outcome_unknown`: a call to the provider was lost; money and caps stay held.
 * `amount_differs`: the provider paid another amount. `paid_after_failure`, `returned`: the provider reported the opposite of
 * the final state.
 */
export type Attention = 'outcome_unknown' | 'amount_differs' | 'paid_after_failure' | 'returned'

/** The withdrawals of all accounts. */
export const withdrawalTable = table('gw_withdrawals', {
  id: text,
  position,
  accountId: text,
  provider: text,
  status: oneOf<WithdrawalStatus>(),
  attention: nullable(oneOf<Attention>()),
  reason: nullable(text),
  txHash: nullable(text),
  amountCents: integer,
  feeCents: integer,
  /** Money that the provider moved beyond what was held. The operator books it. */
  excessCents: defaulted(integer),
  destination: json<NewWithdrawal['destination']>(),
  relay: nullable(json<NonNullable<WithdrawalReport['relay']>>()),
  hold: json<SpendHold>(),
  /** Until when an equal request of a partner counts as a poll of this withdrawal; null: it would be a new withdrawal. */
  openToPollingUntil: nullable(instant),
  createdAt: instant,
  updatedAt: instant,
})
export type Withdrawal = Row<typeof withdrawalTable>

/** Counts the withdrawals of an account that have not ended. */
export function countOpenWithdrawals(db: SqlQueries, accountId: string): Promise<number> {
  return withdrawalTable.count(db, accountId, "status in ('pending', 'ready')")
}

/** The kind of the job that sends a withdrawal and reads its state until it ends. Its subject is the withdrawal's id. */
export const SEND_JOB = 'withdrawal.send'
/** The kind of withdrawals in events, transactions and causes of transfers. */
export const KIND = 'withdrawal'

/** Whether a withdrawal has not ended. */
export function isOpen(status: WithdrawalStatus): boolean {
  return status === 'pending' || status === 'ready'
}

/** Makes the transaction row of a withdrawal. */
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
