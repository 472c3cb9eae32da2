import type { Clock, EpochMs } from '@gatewright/kernel'

/**
 * Shares the result of `make`: it serves for `forMs` from the instant its making began, and all calls during a making
 * wait for that one. A rejection is handed to those who waited and is not kept. A clock that was set back ends a result.
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
