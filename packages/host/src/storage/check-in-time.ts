import { inTime } from './in-time.ts'

/** The result of a check: what it returned, or why it failed. */
export type CheckResult<T> =
  | { readonly ok: true; readonly ms: number; readonly value: T }
  | { readonly ok: false; readonly ms: number; readonly error: unknown }

/** Runs a check for at most `limitMs`, and measures it. Never rejects. */
export async function checkInTime<T>(check: () => Promise<T>, limitMs: number): Promise<CheckResult<T>> {
  const startedAt = performance.now()
  const took = (): number => performance.now() - startedAt
  const late = (): Error => new Error(`no answer within ${limitMs / 1000} s`)
  return inTime(check(), limitMs, late).then(
    value => ({ ok: true, ms: took(), value }),
    (error: unknown) => ({ ok: false, ms: took(), error }),
  )
}
