import type { Verdict } from '@gatewright/kernel'
import type { AccessLike, RecordedAnswer, SpendGuardPart, SpendLike, SpentLike, WireAnswer } from './parts.ts'

/** What one run reserves. */
export interface Reservations {
  reserve(spend: SpendLike): Promise<Verdict<unknown>>
  /** Ends the run: `complete` is given the answer with what was reserved, and how to give that back. */
  end<T>(
    answer: WireAnswer,
    complete: (answer: RecordedAnswer, undo?: () => Promise<void>) => Promise<T>,
  ): Promise<T>
}

interface Made {
  readonly amount: SpentLike
  readonly held: Promise<Verdict<unknown>>
}

/** Keeps account of what a run reserves under its `effectId`. */
export function reservationsOf(
  guard: SpendGuardPart<AccessLike, unknown>,
  access: AccessLike,
  effectId: string,
): Reservations {
  const made: Made[] = []
  let open = true
  const hold = async (spend: SpendLike): Promise<Verdict<unknown>> => guard.reserve(access, spend)
  return {
    // Not `async`: its own promise would fail unhandled where a handler forgets to wait.
    reserve(spend) {
      if (!open) return Promise.reject(new TypeError('reserve must be called before the handler answers'))
      const { amountCents, currency, countsAs } = spend
      const nth = made.length + 1
      const holdId = spend.holdId ?? (nth === 1 ? effectId : `${effectId}-${nth}`)
      const held = hold({ ...spend, holdId })
      // A handler may answer without it; how it ended is asked below.
      held.catch(() => {})
      made.push({ amount: { amountCents, currency, ...(countsAs ? { countsAs } : {}) }, held })
      return held
    },

    async end(answer, complete) {
      open = false
      if (made.length === 0) return complete(answer)
      const ended = await Promise.allSettled(made.map(({ held }) => held))
      const isHeld = (index: number): boolean => {
        const one = ended[index]
        return one?.status === 'fulfilled' && one.value.ok
      }
      const spends = made.flatMap(({ amount }, index) => (isHeld(index) ? [amount] : []))
      const recorded: RecordedAnswer = spends.length === 0 ? answer : { spends, ...answer }
      const standing = ended.filter(one => one.status === 'rejected' || one.value.ok)
      if (standing.length === 0) return complete(recorded)
      return complete(recorded, async () => {
        for (const one of standing) {
          // Nobody knows whether this one holds.
          if (one.status === 'rejected') throw one.reason
          if (one.value.ok) await guard.release(one.value.value)
        }
      })
    },
  }
}
