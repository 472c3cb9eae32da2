import type { Clock } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import type { EventOutcome, JobHandler, Metrics } from '@gatewright/host'
import type { KycProvider } from '../../providers/kyc/port.ts'
import type { KycRecords } from './records.ts'

/** The kind of the job that submits an application to the provider. Its subject is the application's id. */
export const SUBMIT_JOB = 'kyc.submit'

/** The services that the job uses. */
interface KycJobServices {
  readonly db: SqlClient
  readonly clock: Clock
  readonly kyc: KycRecords
  readonly provider: KycProvider
  readonly count: (outcome: EventOutcome) => void
}

/** Makes the job that submits an application, and repeats the call while the application is `pending`. */
export function submitJob({ db, clock, kyc, provider, count }: KycJobServices): JobHandler {
  return async (id, signal) => {
    const application = await kyc.waiting(db, id)
    if (!application) return tx => kyc.dropNationalId(tx, id)
    const report = await provider.submit(id, application, signal)
    return async tx => {
      // A decision that was made during the call is newer than this response.
      count(await kyc.report(tx, id, report, clock.now(), { whilePending: true }))
      // Repeated also if this response was ignored because a newer report arrived during the call.
      return (await kyc.waiting(tx, id)) ? 'again' : undefined
    }
  }
}

/** What the module of such jobs works with. */
interface ModuleJobServices extends Omit<KycJobServices, 'provider' | 'count'> {
  readonly providers: { readonly kyc?: KycProvider }
  readonly metrics: Pick<Metrics, 'providerEvent'>
}

/** The jobs of a host that has a provider for them. Their outcomes are counted with those of the event `kyc.report`. */
export function kycJobs({
  providers,
  metrics,
  db,
  clock,
  kyc,
}: ModuleJobServices): Readonly<Record<string, JobHandler>> {
  const provider = providers.kyc
  if (!provider) return {}
  const count = (outcome: string): void => metrics.providerEvent('kyc.report', outcome)
  return { [SUBMIT_JOB]: submitJob({ db, clock, kyc, provider, count }) }
}
