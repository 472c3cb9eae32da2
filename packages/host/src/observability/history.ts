import type { Decision } from '@gatewright/http'
import type { Clock, EpochMs } from '@gatewright/kernel/internal'
import { outcomeOf, type DecisionOutcome } from './outcome.ts'
import { bucketOf, STORE_CHECK_SECONDS } from './quantile.ts'

/** Length of one slot. */
export const SLOT_MS = 300_000
/** How far back the history goes. */
export const HISTORY_MS = 86_400_000

/** The counts of this process in one slot of time. */
interface HistorySlot {
  /** Start of the slot. */
  readonly at: EpochMs
  /** Requests by outcome. */
  readonly outcomes: Readonly<Record<DecisionOutcome, number>>
  /** Checks of each store: a count for each bucket of `STORE_CHECK_SECONDS`, and one for longer checks. */
  readonly stores: ReadonlyMap<string, readonly number[]>
}

/** The last 24 hours of this process, for the operator page. Prometheus keeps longer histories of the same figures. */
export interface History {
  readonly since: EpochMs
  observe(decision: Pick<Decision, 'status'>): void
  storeCheck(store: string, seconds: number): void
  /** Lists the slots with any count, oldest first. */
  slots(): readonly HistorySlot[]
}

interface OpenSlot extends HistorySlot {
  readonly outcomes: Record<DecisionOutcome, number>
  readonly stores: Map<string, number[]>
}

/** Makes an empty history. It holds at most 288 slots, whatever the number of requests. */
export function createHistory(clock: Clock): History {
  const slots: OpenSlot[] = []
  const since = clock.now()
  const current = (): OpenSlot => {
    const now = clock.now()
    const at = now - (now % SLOT_MS)
    const last = slots.at(-1)
    // If the clock was set back, the last slot continues.
    if (last && at <= last.at) return last
    const slot = { at, outcomes: { allowed: 0, refused: 0, limited: 0, failed: 0 }, stores: new Map() }
    slots.push(slot)
    drop(at)
    return slot
  }
  const drop = (at: EpochMs): void => {
    while (slots[0] && slots[0].at <= at - HISTORY_MS) slots.shift()
  }
  return {
    since,
    observe({ status }) {
      current().outcomes[outcomeOf(status)] += 1
    },
    storeCheck(store, seconds) {
      const { stores } = current()
      const counts = stores.get(store) ?? [...STORE_CHECK_SECONDS, Infinity].map(() => 0)
      const bucket = bucketOf(STORE_CHECK_SECONDS, seconds)
      counts[bucket] = (counts[bucket] ?? 0) + 1
      stores.set(store, counts)
    },
    slots() {
      drop(clock.now())
      return slots
    },
  }
}
