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

/** The version of a report, beside what is known. */
interface ReportedVersion {
  readonly from: KycStatus
  readonly version: number | null
  /** The version of the newest report so far. */
  readonly known: number | null
  /** Whether it is the response to the call of the job. */
  readonly whilePending: boolean
}

/**
 * Whether a report is newer than all earlier ones. Without a version it is newer only if none of them had one. After a decision `pending`
 * the provider is called again, and its newest report counts again: its response counts even without a version, but not after another
 * decision.
 */
export function isCounted({ from, version, known, whilePending }: ReportedVersion): boolean {
  if (whilePending && from !== 'pending') return false
  const isRepeated = from === 'pending' && (version === known || (whilePending && version === null))
  return isRepeated || known === null || (version !== null && version > known)
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
