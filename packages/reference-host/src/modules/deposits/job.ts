import type { Clock } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import type { EventType, JobHandler, Metrics } from '@gatewright/host'
import { depositReport, type DepositProvider } from '../../providers/deposits/port.ts'
import { withId, type ReplyType } from '../../providers/reply.ts'
import type { DepositRecords } from './records.ts'
import { depositTable } from './deposit.ts'

/** The kind of the job that reads a deposit from the provider. Its subject is the deposit's id. */
export const FIND_JOB = 'deposit.find'
/** How long after its last change a deposit is read from the provider. Later payments arrive as events. */
const ASKED_FOR_MS = 86_400_000

/** The services that the job uses. */
interface FindServices {
  readonly db: SqlClient
  readonly clock: Clock
  readonly deposits: DepositRecords
  readonly provider: DepositProvider
  readonly count: (outcome: string) => void
}

/** Makes the job that asks the provider which payments it has seen. */
export function findJob({ db, clock, deposits, provider, count }: FindServices): JobHandler {
  return async (id, signal) => {
    const deposit = await depositTable.anyAccount.find(db, id)
    if (!deposit || deposit.provider !== provider.name) return async () => {}
    const report = await provider.find(id, signal).catch((error: unknown) => {
      if (clock.now() < deposit.updatedAt + ASKED_FOR_MS) throw error
      return undefined
    })
    return async tx => {
      const now = clock.now()
      if (report) count(await deposits.report(tx, provider.name, { id, ...report }, now))
      const { updatedAt } = (await depositTable.anyAccount.find(tx, id)) ?? deposit
      return now < updatedAt + ASKED_FOR_MS ? 'again' : undefined
    }
  }
}

const event = withId(depositReport)

/** The event `deposit.report`: a report with the `id` of its deposit. A provider can report only its own deposits. */
export function depositReportEvent(deposits: DepositRecords): EventType {
  return {
    validate: event.validate,
    apply: (tx, provider, data: ReplyType<typeof event>, now) => deposits.report(tx, provider, data, now),
  }
}

/** What the module of such jobs works with. */
interface ModuleJobServices extends Omit<FindServices, 'provider' | 'count'> {
  readonly providers: { readonly deposits?: DepositProvider }
  readonly metrics: Pick<Metrics, 'providerEvent'>
}

/** The jobs of a host that has a provider for them. Their outcomes are counted with those of the event `deposit.report`. */
export function depositJobs({
  providers,
  metrics,
  db,
  clock,
  deposits,
}: ModuleJobServices): Readonly<Record<string, JobHandler>> {
  const provider = providers.deposits
  if (!provider) return {}
  const count = (outcome: string): void => metrics.providerEvent('deposit.report', outcome)
  return { [FIND_JOB]: findJob({ db, clock, deposits, provider, count }) }
}
