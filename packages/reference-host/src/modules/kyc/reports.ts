import type { SqlQueries } from '@gatewright/kernel/sql'
import { events } from '@gatewright/host'
import { LOCKED_STATUSES, mayMove, type KycStatus } from './states.ts'

/** The cause of events that a report of the provider makes. */
export const REPORTED = 'reported'

/** The change that a report requests. */
interface ReportedChange {
  readonly accountId: string
  /** The id of the application. */
  readonly id: string
  readonly from: KycStatus
  readonly to: KycStatus
  readonly version: number | null
}

/** Whether a report is newer than all earlier ones. Without a version it is newer only if none of them had one. */
export function isNewer(version: number | null, known: number | null): boolean {
  return known === null || (version !== null && version > known)
}

/** Whether a newer report may change the status. It may not end a lock or a denial that an operator decided on. */
export async function mayReport(
  tx: SqlQueries,
  { accountId, id, from, to, version }: ReportedChange,
): Promise<boolean> {
  if (!mayMove(version === null ? 'reported' : 'versioned', from, to)) return false
  return !LOCKED_STATUSES.includes(from) || lastReported(tx, { accountId, id })
}

/** Whether the last change of an application was a report of the provider. */
export async function lastReported(
  tx: SqlQueries,
  { accountId, id }: Pick<ReportedChange, 'accountId' | 'id'>,
): Promise<boolean> {
  const history = await events.history(tx, accountId, { kind: 'kyc', id })
  return history.at(-1)?.cause === REPORTED
}
