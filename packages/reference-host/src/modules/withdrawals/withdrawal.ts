import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
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
import { objectsOfAnyAccount } from '../../product/provider-objects.ts'
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
/** Withdrawals by the id alone. */
export const anyWithdrawal = objectsOfAnyAccount('withdrawal', withdrawalTable)
/** A stored withdrawal. A new one has no position yet. */
export type Withdrawal = Omit<Row<typeof withdrawalTable>, 'position'>

const OPEN_AND_OWN = `select
  (select count(*) from gw_withdrawals where account_id = $1 and status in ('pending', 'ready')) as open_withdrawals,
  case when exists (select 1 from gw_provider_addresses where address = $2)
    or exists (select 1 from gw_deposit_addresses where address = $2) then 1 else 0 end as own_address`

/**
 * Counts the withdrawals of an account that have not ended, and reads whether an address is one at which this host receives deposits.
 * Lock the account before, so that no withdrawal is added meanwhile.
 */
export async function countOpenAndFindOwn(
  db: SqlQueries,
  accountId: string,
  address: string,
): Promise<{ readonly open: number; readonly isOwnAddress: boolean }> {
  const [row] = await rows(db, OPEN_AND_OWN, [accountId, address])
  return { open: toInteger(row?.['open_withdrawals']), isOwnAddress: toInteger(row?.['own_address']) === 1 }
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
  { id, accountId, amountCents, destination: { address, network } }: Withdrawal,
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
    description: `Withdrawal to ${address} on ${network.charAt(0).toUpperCase()}${network.slice(1)}`,
  }
}
