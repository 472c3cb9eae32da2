import type { EpochMs } from '@gatewright/kernel'
import type { CheckedOptions } from './options.ts'
import type { KeyRing } from './signing/key-ring.ts'
import type { AuditStorage } from './storage/audit-port.ts'

/** What one call of `maintain` did. */
export interface MaintenanceResult {
  readonly collectedKeys: number
  readonly collectedSessions: number
  readonly collectedAudit: number
  /** Whether a successor of the signing key was announced. */
  readonly rotatedSigningKey: boolean
}

/** The most rows of each kind that one `collect` deletes. */
const COLLECT_LIMIT = 1000

/** Every mint writes an audit row, so more than one batch may be due. */
const AUDIT_BATCHES = 20

async function collectAudit(audit: AuditStorage, now: EpochMs): Promise<number> {
  let total = 0
  for (let batch = 0; batch < AUDIT_BATCHES; batch++) {
    const deleted = await audit.collect(COLLECT_LIMIT, now)
    total += deleted
    if (deleted < COLLECT_LIMIT) break
  }
  return total
}

/** Makes the verb that deletes ended rows in bounded batches and rotates the signing key when it is due. */
export function makeMaintain(options: CheckedOptions, ring: KeyRing): () => Promise<MaintenanceResult> {
  const { clock, keys, sessions, audit, endedKeyRetentionMs, signingKeyDays } = options
  return async () => {
    const now = clock.now()
    return {
      rotatedSigningKey: await ring.rotate(signingKeyDays * 86_400_000),
      collectedKeys: await keys.collect(COLLECT_LIMIT, now - endedKeyRetentionMs),
      collectedSessions: await sessions.collect(COLLECT_LIMIT, now),
      collectedAudit: await collectAudit(audit, now),
    }
  }
}
