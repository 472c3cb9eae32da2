import type { EpochMs } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import type { AppliedEvent } from '@gatewright/host/internal'
import type { EventOutcome } from '@gatewright/host'
import { depositReport, type DepositReport } from '../../providers/deposits/port.ts'
import { reportEvent } from '../provider-reports.ts'

/** Applies a report of a provider about one of its deposits. */
export type ReportDeposit = (
  tx: SqlQueries,
  provider: string,
  report: DepositReport & { readonly id: string },
  now: EpochMs,
) => Promise<EventOutcome>

/** The event `deposit.report`. A provider can report only its own deposits. */
export const depositReportEvent = (apply: ReportDeposit): AppliedEvent =>
  reportEvent(depositReport, {
    apply,
    amountOf: ({ payments }) =>
      payments.length === 0 ? null : payments.reduce((sum, each) => sum + each.creditedCents, 0),
  })
