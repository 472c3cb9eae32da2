import type { DependencyCheck } from './backend.ts'
import { inTime } from './in-time.ts'

/** How long one dependency may take to reply to a check, in ms. */
const CHECK_TIMEOUT_MS = 2000

/** The result of a dependency check. */
interface CheckResult {
  /** False if the check failed, or took longer than 2 seconds. */
  readonly ok: boolean
  readonly ms: number
}

/** Runs a dependency check for at most 2 seconds, and measures it. Never rejects. */
export async function checkInTime(check: DependencyCheck): Promise<CheckResult> {
  const startedAt = performance.now()
  const ok = await inTime(check(), CHECK_TIMEOUT_MS, () => new Error('late')).then(
    () => true,
    () => false,
  )
  return { ok, ms: performance.now() - startedAt }
}
