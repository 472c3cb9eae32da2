import type { Clock } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import type { EventType, JobHandler, Metrics } from '@gatewright/host'
import { isRejection, withId, type ReplyType } from '../../providers/reply.ts'
import {
  withdrawalReport,
  type WithdrawalProvider,
  type WithdrawalReport,
} from '../../providers/withdrawals/port.ts'
import type { WithdrawalRecords } from './records.ts'
import { isOpen, SEND_JOB, withdrawalTable, type Withdrawal } from './withdrawal.ts'

/** The services that the job uses. */
interface SendServices {
  readonly db: SqlClient
  readonly clock: Clock
  readonly withdrawals: WithdrawalRecords
  readonly provider: WithdrawalProvider
  readonly count: (outcome: string) => void
  readonly report: (error: unknown) => void
}

/**
 * Sends a withdrawal at most once, then reads its state until it ends. Every round first asks the provider, and sends the
 * withdrawal only if the provider never received it: after a crash it is unknown whether an earlier round has sent it.
 */
export function sendJob(services: SendServices): JobHandler {
  const { db, clock, withdrawals, provider, count, report } = services
  return async (id, signal) => {
    const withdrawal = await withdrawalTable.anyAccount.find(db, id)
    if (!withdrawal || !isOpen(withdrawal.status)) return async () => {}
    const outcome = await findOrSend(provider, withdrawal, signal).catch((error: unknown) => {
      report(error)
      return undefined
    })
    return async tx => {
      if (!outcome) await withdrawals.lost(tx, id)
      else count(await withdrawals.report(tx, withdrawal.provider, { id, ...outcome }, clock.now()))
      return outcome && !isOpen(outcome.status) ? undefined : 'again'
    }
  }
}

/** Returns the provider's report, or undefined if the outcome is unknown. */
async function findOrSend(
  provider: WithdrawalProvider,
  { id, status, provider: sentTo, amountCents, feeCents, destination }: Withdrawal,
  signal: AbortSignal,
): Promise<WithdrawalReport | undefined> {
  // Another provider does not know the id, and would pay the withdrawal out again.
  if (sentTo !== provider.name) return undefined
  const found = await provider.find(id, signal)
  // If the provider had accepted the withdrawal before and does not find it now, it may have paid it out: do not send it again.
  if (found || status !== 'pending') return found
  const sent = await provider.send(id, { amountCents, feeCents, destination }, signal)
  return isRejection(sent)
    ? { status: 'failed', reason: sent.rejected, txHash: null, paidCents: null, relay: null }
    : sent
}

const event = withId(withdrawalReport)

/** The event `withdrawal.report`: a report with the `id` of its withdrawal. A provider can report only its own withdrawals. */
export function withdrawalReportEvent(withdrawals: WithdrawalRecords): EventType {
  return {
    validate: event.validate,
    apply: (tx, provider, data: ReplyType<typeof event>, now) => withdrawals.report(tx, provider, data, now),
  }
}

/** What the module of such jobs works with. */
interface ModuleJobServices extends Omit<SendServices, 'provider' | 'count'> {
  readonly providers: { readonly withdrawals?: WithdrawalProvider }
  readonly metrics: Pick<Metrics, 'providerEvent'>
}

/** The jobs of a host that has a provider for them. Their outcomes are counted with those of the event `withdrawal.report`. */
export function withdrawalJobs({
  providers,
  metrics,
  db,
  clock,
  withdrawals,
  report,
}: ModuleJobServices): Readonly<Record<string, JobHandler>> {
  const provider = providers.withdrawals
  if (!provider) return {}
  const count = (outcome: string): void => metrics.providerEvent('withdrawal.report', outcome)
  return { [SEND_JOB]: sendJob({ db, clock, withdrawals, provider, count, report }) }
}
