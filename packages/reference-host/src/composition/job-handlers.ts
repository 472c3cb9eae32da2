import type { Clock } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import { findJob, FIND_JOB } from '../modules/deposits/job.ts'
import type { DepositRecords } from '../modules/deposits/records.ts'
import { submitJob, SUBMIT_JOB } from '../modules/kyc/job.ts'
import type { KycRecords } from '../modules/kyc/records.ts'
import { sendJob } from '../modules/withdrawals/job.ts'
import { SEND_JOB } from '../modules/withdrawals/withdrawal.ts'
import type { WithdrawalRecords } from '../modules/withdrawals/records.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { JobHandler } from '../records/jobs.ts'
import type { Providers } from '../providers/ports.ts'

/** The services that jobs use. */
interface JobHandlerServices {
  readonly db: SqlClient
  readonly clock: Clock
  readonly report: (error: unknown) => void
  readonly metrics: Metrics
  readonly kyc: KycRecords
  readonly deposits: DepositRecords
  readonly withdrawals: WithdrawalRecords
}

/** The calls that jobs make to the providers of this host, by the kind of job. */
export function jobHandlers(
  providers: Providers,
  { metrics, ...services }: JobHandlerServices,
): Readonly<Record<string, JobHandler>> {
  const { kyc, deposits, withdrawals } = providers
  const counted = (type: string) => ({
    count: (outcome: string): void => metrics.providerEvent(type, outcome),
  })
  return {
    ...(kyc ? { [SUBMIT_JOB]: submitJob({ ...services, ...counted('kyc.report'), provider: kyc }) } : {}),
    ...(deposits
      ? { [FIND_JOB]: findJob({ ...services, ...counted('deposit.report'), provider: deposits }) }
      : {}),
    ...(withdrawals
      ? { [SEND_JOB]: sendJob({ ...services, ...counted('withdrawal.report'), provider: withdrawals }) }
      : {}),
  }
}
