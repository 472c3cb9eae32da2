import { Fault, type Verdict } from '@gatewright/kernel'
import type { AccessLike, AmountLike, RecordedResponse, SpendGuardPort, WireResponse } from '../ports.ts'

interface RunReservations {
  reserve(spend: AmountLike & { readonly holdId?: string }): Promise<Verdict<unknown>>
  /** Ends the run. `complete` gets the response with the reserved amounts, and a function that releases them. */
  end<T>(
    response: WireResponse,
    complete: (response: RecordedResponse, undo?: (mayUndo?: () => boolean) => Promise<void>) => Promise<T>,
  ): Promise<T>
}

interface Reservation {
  readonly amount: AmountLike
  readonly result: Promise<Verdict<unknown>>
}

/** Tracks what a run reserves under its `effectId`. */
export function createReservations(
  guard: SpendGuardPort<AccessLike, unknown>,
  access: AccessLike,
  effectId: string,
): RunReservations {
  const made: Reservation[] = []
  let open = true
  const reserveHold: RunReservations['reserve'] = async spend => guard.reserve(access, spend)
  return {
    // Not `async`: an async function would return a second promise, whose rejection is unhandled if the handler does not await it.
    reserve(spend) {
      if (!open) return Promise.reject(new TypeError('reserve must be called before the handler returns'))
      const { amountCents, currency, countsAs } = spend
      const nth = made.length + 1
      const holdId = spend.holdId ?? (nth === 1 ? effectId : `${effectId}-${nth}`)
      const result = reserveHold({ ...spend, holdId })
      // A handler may respond without awaiting it; `end` reads the result.
      result.catch(() => {})
      made.push({ amount: { amountCents, currency, ...(countsAs ? { countsAs } : {}) }, result })
      return result
    },

    async end(response, complete) {
      open = false
      if (made.length === 0) return complete(response)
      const results = await Promise.allSettled(made.map(({ result }) => result))
      const isHeld = (index: number): boolean => {
        const result = results[index]
        return result?.status === 'fulfilled' && result.value.ok
      }
      const spends = made.flatMap(({ amount }, index) => (isHeld(index) ? [amount] : []))
      const recorded: RecordedResponse = spends.length === 0 ? response : { spends, ...response }
      const possiblyHeld = results.filter(result => result.status === 'rejected' || result.value.ok)
      if (possiblyHeld.length === 0) return complete(recorded)
      return complete(recorded, async mayUndo => {
        for (const result of possiblyHeld) {
          if (mayUndo?.() === false)
            throw new Fault(
              'ERR_LEASE_LOST',
              'the lease ended while reservations were released: raise leaseMs',
            )
          // If a reservation failed, whether it holds its amount is unknown.
          if (result.status === 'rejected') throw result.reason
          if (result.value.ok) await guard.release(result.value.value)
        }
      })
    },
  }
}
