import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { events } from '@gatewright/host'
import type { DepositReport } from '../../providers/deposits/port.ts'
import { type Deposit } from './deposit.ts'

/** A payment that a provider reports. */
export type ReportedPayment = DepositReport['payments'][number]

const CONFLICT = 'payment_conflict'

/**
 * Records a payment that cannot be credited because another payment has its id. Account and operator can see the record. A
 * repeated report changes nothing.
 */
export async function keepConflict(
  tx: SqlQueries,
  { id, accountId, provider, status }: Deposit,
  { id: detail, creditedCents: amountCents }: ReportedPayment,
  { report, now }: { readonly report: (error: unknown) => void; readonly now: EpochMs },
): Promise<void> {
  const subject = { kind: 'deposit', id }
  const history = await events.history(tx, accountId, subject)
  if (history.some(each => each.detail === detail && each.amountCents === amountCents)) return
  await rows(tx, 'update gw_deposits set attention = $2 where id = $1', [id, CONFLICT])
  const event = { accountId, subject, cause: CONFLICT, amountCents, detail, keep: true }
  await events.record(tx, { ...event, from: status, to: status }, now)
  report(
    new Error(
      `payment ${detail} of ${amountCents} US cents to deposit ${id} was not credited: ${provider} gave its id to another payment`,
    ),
  )
}
