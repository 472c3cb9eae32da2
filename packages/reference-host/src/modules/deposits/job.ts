import type { Clock } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import type { JobHandler } from '@gatewright/host'
import type { DepositProvider } from '../../providers/deposits/port.ts'
import type { ProviderCalls } from '../provider-reports.ts'
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
}

/** Makes the job that asks the provider which payments it has seen. */
export function findJob(
  { db, clock, deposits }: FindServices,
  { provider, count }: ProviderCalls<DepositProvider>,
): JobHandler {
  return async ({ accountId, subjectId: id }, signal) => {
    const deposit = await depositTable.find(db, accountId, id)
    if (!deposit || deposit.provider !== provider.name) return async () => {}
    const report = await provider.find(id, signal).catch((error: unknown) => {
      if (clock.now() < deposit.updatedAt + ASKED_FOR_MS) throw error
      return undefined
    })
    return async tx => {
      const now = clock.now()
      if (report) count(await deposits.report(tx, provider.name, { id, ...report }, now))
      const { updatedAt } = (await depositTable.find(tx, accountId, id)) ?? deposit
      return now < updatedAt + ASKED_FOR_MS ? 'again' : undefined
    }
  }
}
