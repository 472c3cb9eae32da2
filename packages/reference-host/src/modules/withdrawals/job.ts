import type { Clock } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import type { AppliedEvent } from '@gatewright/host/internal'
import type { JobHandler } from '@gatewright/host'
import { isRejection } from '../../providers/reply.ts'
import {
  withdrawalReport,
  type WithdrawalProvider,
  type WithdrawalReport,
} from '../../providers/withdrawals/port.ts'
import { reportEvent, type ProviderCalls } from '../provider-reports.ts'
import { frozenAt } from '../users/freeze.ts'
import type { WithdrawalRecords } from './records.ts'
import { isOpen, withdrawalTable, type Withdrawal } from './withdrawal.ts'

/** The services that the job uses. */
interface SendServices {
  readonly db: SqlClient
  readonly clock: Clock
  readonly withdrawals: WithdrawalRecords
  readonly report: (error: unknown) => void
}

/**
 * Sends a withdrawal at most once, then reads its state until it ends. Every round first asks the provider, and sends the
 * withdrawal only if the provider never received it: after a crash it is unknown whether an earlier round has sent it.
 */
export function sendJob(
  { db, clock, withdrawals, report }: SendServices,
  { provider, count }: ProviderCalls<WithdrawalProvider>,
): JobHandler {
  return async ({ accountId, subjectId: id }, signal) => {
    const withdrawal = await withdrawalTable.find(db, accountId, id)
    if (!withdrawal || !isOpen(withdrawal.status)) return async () => {}
    const isFrozen = async (): Promise<boolean> => (await frozenAt(db, accountId)) !== null
    const outcome = await findOrSend(provider, withdrawal, isFrozen, signal).catch((error: unknown) => {
      report(error)
      return undefined
    })
    return async tx => {
      if (outcome === 'frozen') return 'again'
      if (!outcome) await withdrawals.lost(tx, accountId, id)
      else count(await withdrawals.report(tx, withdrawal.provider, { id, ...outcome }, clock.now()))
      return outcome && !isOpen(outcome.status) ? undefined : 'again'
    }
  }
}

/** Returns the provider's report, undefined if the outcome is unknown, or `frozen` for what stays unsent while its account is frozen. */
async function findOrSend(
  provider: WithdrawalProvider,
  { id, status, provider: sentTo, amountCents, feeCents, destination }: Withdrawal,
  isFrozen: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<WithdrawalReport | 'frozen' | undefined> {
  // Another provider does not know the id, and would pay the withdrawal out again.
  if (sentTo !== provider.name) return undefined
  const found = await provider.find(id, signal)
  // If the provider had accepted the withdrawal before and does not find it now, it may have paid it out: do not send it again.
  if (found || status !== 'pending') return found
  if (await isFrozen()) return 'frozen'
  const sent = await provider.send(id, { amountCents, feeCents, destination }, signal)
  return isRejection(sent)
    ? { status: 'failed', reason: sent.rejected, txHash: null, paidCents: null, relay: null }
    : sent
}

/** The event `withdrawal.report`. A provider can report only its own withdrawals. */
export const withdrawalReportEvent = ({ report }: Pick<WithdrawalRecords, 'report'>): AppliedEvent =>
  reportEvent(withdrawalReport, { apply: report, amountOf: ({ paidCents }) => paidCents })
