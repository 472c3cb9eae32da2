import type { HostServices, Module } from '@gatewright/host'
import type { PayinReceiver } from '../../chain/receivers.ts'
import type { Providers } from '../../providers/ports.ts'
import { providerJobs } from '../provider-reports.ts'
import { sendJob, withdrawalReportEvent } from './job.ts'
import { withdrawalOperations } from './operations.ts'
import type { WithdrawalRecords } from './records.ts'
import { withdrawalsRestored } from './restored.ts'
import { SEND_JOB } from './withdrawal.ts'

/** What this part of the product works with. */
interface WithdrawalsServices extends HostServices {
  readonly withdrawals: WithdrawalRecords
  readonly receivers: readonly PayinReceiver[]
  readonly providers: Providers
}

/** Withdrawals, which a provider sends. */
export const withdrawalsModule: Module<WithdrawalsServices> = {
  operations: withdrawalOperations,
  jobs: providerJobs({ provider: 'withdrawals', job: SEND_JOB, event: 'withdrawal.report' }, sendJob),
  restored: withdrawalsRestored,
  providerEvents: ({ withdrawals }) => ({ 'withdrawal.report': withdrawalReportEvent(withdrawals) }),
  commands: () => import('./commands.ts'),
}
