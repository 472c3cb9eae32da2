import type { DependencyCheck } from './backend.ts'

/** How long one dependency may take to answer a check, in ms. */
const CHECK_TIMEOUT_MS = 2000

/** The result of a dependency check. */
export interface CheckResult {
  /** False if the check failed, or took longer than 2 seconds. */
  readonly ok: boolean
  readonly ms: number
}

/** Runs a dependency check for at most 2 seconds, and measures it. Never rejects. */
export async function checkInTime(check: DependencyCheck): Promise<CheckResult> {
  const startedAt = performance.now()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>(resolve => {
    timer = setTimeout(resolve, CHECK_TIMEOUT_MS, false)
  })
  const answered = check().then(
    () => true,
    () => false,
  )
  const ok = await Promise.race([answered, late]).finally(() => clearTimeout(timer))
  return { ok, ms: performance.now() - startedAt }
}
