import type { Clock } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import * as Type from 'typebox/type'
import { depositReport, type DepositProvider, type DepositReport } from '../../providers/deposits/port.ts'
import type { JobHandler } from '../../records/jobs.ts'
import { compileSchema } from '../../schemas/check.ts'
import { idText } from '../../schemas/names.ts'
import type { EventType } from '../system/provider-events.ts'
import type { DepositRecords } from './records.ts'
import { depositTable } from './deposit.ts'

/** The kind of the job that asks the provider about a deposit, by the deposit's id. */
export const FIND_JOB = 'deposit.find'
/** How long after its last change a deposit is asked about. Later payments come as events. */
const ASKED_FOR_MS = 86_400_000

/** What the job works with. */
interface FindServices {
  readonly db: SqlClient
  readonly clock: Clock
  readonly deposits: DepositRecords
  readonly provider: DepositProvider
  readonly count: (outcome: string) => void
}

/** Asks the provider which payments it has seen. */
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

const validateId = compileSchema(Type.Object({ id: idText() }))

/** The event `deposit.report`: a report with the `id` of its deposit. Each provider knows its own deposits only. */
export function depositReportEvent(deposits: DepositRecords): EventType {
  return {
    validate: data => validateId(data) ?? depositReport.validate(data),
    apply: (tx, provider, data: DepositReport & { readonly id: string }, now) =>
      deposits.report(tx, provider, data, now),
  }
}
