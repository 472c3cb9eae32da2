import type { Clock } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import type { EventType, JobHandler } from '@gatewright/host'
import { kycReport, type KycProvider } from '../../providers/kyc/port.ts'
import { reportEvent, type ProviderCalls } from '../provider-reports.ts'
import type { KycRecords } from './records.ts'

/** The kind of the job that submits an application to the provider. Its subject is the application's id. */
export const SUBMIT_JOB = 'kyc.submit'

/** The services that the job uses. */
interface KycJobServices {
  readonly db: SqlClient
  readonly clock: Clock
  readonly kyc: KycRecords
}

/** Makes the job that submits an application, and repeats the call while the application is `pending`. */
export function submitJob(
  { db, clock, kyc }: KycJobServices,
  { provider, count }: ProviderCalls<KycProvider>,
): JobHandler {
  return async ({ subjectId: id }, signal) => {
    const application = await kyc.waiting(db, id)
    if (!application) return tx => kyc.dropNationalId(tx, id)
    const report = await provider.submit(id, application, signal)
    return async tx => {
      // A decision that was made during the call is newer than this response.
      count(await kyc.report(tx, id, report, { now: clock.now(), whilePending: true }))
      // Repeated also if this response was ignored because a newer report arrived during the call.
      return (await kyc.waiting(tx, id)) ? 'again' : undefined
    }
  }
}

/**
 * The event `kyc.report`: a report with the `id` of its application. Only the provider of identity checks can report
 * applications.
 */
export function kycReportEvent(
  { report }: Pick<KycRecords, 'report'>,
  provider: KycProvider | undefined,
): EventType {
  return reportEvent(kycReport, {
    apply: async (tx, name, { id, ...given }, now) =>
      name === provider?.name ? report(tx, id, given, { now }) : 'unknown',
    amountOf: () => null,
    // The links open pages about the person.
    kept: ({ id, version, status }) => ({ id, version, status }),
  })
}
