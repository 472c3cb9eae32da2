import type { Clock, EpochMs } from '@gatewright/kernel'

/**
 * Reuses the result of `make` for `forMs` from the start of the call. Calls made while `make` runs share its result. A
 * rejection goes to the waiting callers and is not reused. If the clock was set back, the result is not reused either.
 */
export function shareResult<T>(make: () => Promise<T>, clock: Clock, forMs: number): () => Promise<T> {
  let shared: { readonly at: EpochMs; readonly value: Promise<T> } | undefined
  let making = false
  return () => {
    const age = shared ? clock.now() - shared.at : Infinity
    if (shared && (making || (age >= 0 && age < forMs))) return shared.value
    making = true
    const at = clock.now()
    const value = make().finally(() => {
      making = false
    })
    shared = { at, value }
    value.catch(() => {
      if (shared?.value === value) shared = undefined
    })
    return value
  }
}
