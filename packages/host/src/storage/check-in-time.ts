import { inTime } from './in-time.ts'

/** How long one dependency may take to reply to a check, in ms. */
const CHECK_TIMEOUT_MS = 2000

/** The result of a check: what it returned, or why it failed. */
export type CheckResult<T> =
  | { readonly ok: true; readonly ms: number; readonly value: T }
  | { readonly ok: false; readonly ms: number; readonly error: unknown }

/** Runs a check for at most 2 seconds, and measures it. Never rejects. */
export async function checkInTime<T>(check: () => Promise<T>): Promise<CheckResult<T>> {
  const startedAt = performance.now()
  const took = (): number => performance.now() - startedAt
  const late = (): Error => new Error(`no answer within ${CHECK_TIMEOUT_MS / 1000} s`)
  return inTime(check(), CHECK_TIMEOUT_MS, late).then(
    value => ({ ok: true, ms: took(), value }),
    (error: unknown) => ({ ok: false, ms: took(), error }),
  )
}
