import { collectBatches } from '@gatewright/kernel'
import { ENDED_KEY_RETENTION_MS } from './limits.ts'
import type { CheckedOptions } from './options.ts'
import type { KeyRing } from './signing/key-ring.ts'

/** What one call of `maintain` did. */
export interface MaintenanceResult {
  readonly collectedKeys: number
  /**
   * Deleted sessions and entries of the revocation feed, added up over the batches. Of each batch only the larger of the two
   * numbers is added.
   */
  readonly collectedSessions: number
  readonly collectedAudit: number
  /** Whether a successor of the signing key was announced. */
  readonly rotatedSigningKey: boolean
}

/** Maximum number of rows that one batch deletes. */
const COLLECT_LIMIT = 1000

/** Makes the method that deletes ended rows in bounded batches and rotates the signing key when it is due. */
export function makeMaintain(
  options: CheckedOptions,
  ring: KeyRing,
): (signal?: AbortSignal) => Promise<MaintenanceResult> {
  const { clock, keys, sessions, audit, signingKeyDays } = options
  return async signal => {
    const now = clock.now()
    const collected = (collect: (limit: number) => Promise<number>): Promise<number> =>
      collectBatches(collect, COLLECT_LIMIT, signal)
    return {
      rotatedSigningKey: await ring.rotate(signingKeyDays * 86_400_000),
      collectedKeys: await collected(limit => keys.collect(limit, now - ENDED_KEY_RETENTION_MS)),
      collectedSessions: await collected(limit => sessions.collect(limit, now)),
      collectedAudit: await collected(limit => audit.collect(limit, now)),
    }
  }
}
