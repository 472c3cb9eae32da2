import type { Clock, EpochMs } from '@gatewright/kernel'

/**
 * Reuses the result of `make` for `forMs` from the start of the call. Calls made while `make` runs share its
 * result. A rejection goes to the waiting callers and is not kept. A clock that was set back invalidates the
 * result.
 */
export function shareResult<T>(make: () => Promise<T>, clock: Clock, forMs: number): () => Promise<T> {
  let held: { readonly at: EpochMs; readonly value: Promise<T> } | undefined
  let making = false
  return () => {
    const age = held ? clock.now() - held.at : Infinity
    if (held && (making || (age >= 0 && age < forMs))) return held.value
    making = true
    const at = clock.now()
    const value = make().finally(() => {
      making = false
    })
    held = { at, value }
    value.catch(() => {
      if (held?.value === value) held = undefined
    })
    return value
  }
}
