import type { HostServices, Module } from '@gatewright/host'
import type { Providers } from '../../providers/ports.ts'
import type { AgreementAcceptances } from '../agreement-acceptances.ts'
import { providerJobs } from '../provider-reports.ts'
import { kycReportEvent, SUBMIT_JOB, submitJob } from './job.ts'
import { kycOperations } from './operations.ts'
import type { KycRecords } from './records.ts'

/** What this part of the product works with. */
interface KycServices extends HostServices {
  readonly kyc: KycRecords
  readonly acceptances: AgreementAcceptances
  readonly providers: Providers
}

/** Identity checks, which a provider makes. */
export const kycModule: Module<KycServices> = {
  operations: kycOperations,
  jobs: providerJobs({ provider: 'kyc', job: SUBMIT_JOB, event: 'kyc.report' }, submitJob),
  providerEvents: ({ kyc, providers }) => ({ 'kyc.report': kycReportEvent(kyc, providers.kyc) }),
  commands: () => import('./commands.ts'),
}
