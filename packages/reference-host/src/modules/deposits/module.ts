import type { HostServices, Module } from '@gatewright/host'
import type { Providers } from '../../providers/ports.ts'
import { providerJobs } from '../provider-reports.ts'
import { FIND_JOB, findJob } from './job.ts'
import { depositOperations } from './operations.ts'
import type { DepositRecords } from './records.ts'
import { depositReportEvent } from './report-event.ts'
import { depositsRestored } from './restored.ts'
import { transferDeposit } from './transfer.ts'

/** What this part of the product works with. */
interface DepositsServices extends HostServices {
  readonly deposits: DepositRecords
  readonly providers: Providers
}

/** Deposits, which a provider collects. */
export const depositsModule: Module<DepositsServices> = {
  operations: depositOperations,
  jobs: providerJobs({ provider: 'deposits', job: FIND_JOB, event: 'deposit.report' }, findJob),
  restored: depositsRestored,
  providerEvents: ({ deposits }) => ({ 'deposit.report': depositReportEvent(deposits.report) }),
  commands: () => import('./commands.ts'),
}

/** Transfers of deposited money. */
export const depositTransfersModule: Module<HostServices> = {
  operations: services => [transferDeposit(services)],
}
