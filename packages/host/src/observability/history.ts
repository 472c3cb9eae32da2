import type { Decision } from '@gatewright/http'
import type { Clock, EpochMs } from '@gatewright/kernel'
import { outcomeOf, type DecisionOutcome } from './outcome.ts'
import { bucketOf, REQUEST_SECONDS, STORE_CHECK_SECONDS } from './quantile.ts'

/** Length of one slot. */
export const SLOT_MS = 300_000
/** The time that the plots of the operator page show. */
export const HISTORY_MS = 86_400_000
/** The length of the hour that is compared with the same hour of the day before. */
export const COMPARED_MS = 3_600_000
/** How far back the history goes. */
const KEPT_MS = HISTORY_MS + COMPARED_MS

/** The counts of this process in one slot of time. */
interface HistorySlot {
  /** Start of the slot. */
  readonly at: EpochMs
  /** Requests by outcome. */
  readonly outcomes: Readonly<Record<DecisionOutcome, number>>
  /** Requests by duration: a count for each bucket of `REQUEST_SECONDS`, and one for longer ones. */
  readonly durations: readonly number[]
  /** Checks of each store: a count for each bucket of `STORE_CHECK_SECONDS`, and one for longer checks. */
  readonly stores: ReadonlyMap<string, readonly number[]>
}

/** The last 25 hours of this process, for the operator page. Prometheus keeps longer histories of the same figures. */
export interface History {
  readonly since: EpochMs
  observe(decision: Pick<Decision, 'status' | 'durationMs'>): void
  storeCheck(store: string, seconds: number): void
  /** Lists the slots with any count that began within the last 25 hours, oldest first. */
  slots(): readonly HistorySlot[]
}

interface OpenSlot extends HistorySlot {
  readonly outcomes: Record<DecisionOutcome, number>
  readonly durations: number[]
  readonly stores: Map<string, number[]>
}

/** Makes an empty history. It holds at most 300 slots, whatever the number of requests. */
export function createHistory(clock: Clock): History {
  const slots: OpenSlot[] = []
  const since = clock.now()
  const current = (): OpenSlot => {
    const now = clock.now()
    const at = now - (now % SLOT_MS)
    const last = slots.at(-1)
    // If the clock was set back, the last slot continues.
    if (last && at <= last.at) return last
    const slot = {
      at,
      outcomes: { allowed: 0, refused: 0, limited: 0, failed: 0 },
      durations: emptyBuckets(REQUEST_SECONDS),
      stores: new Map(),
    }
    slots.push(slot)
    drop(at)
    return slot
  }
  const drop = (at: EpochMs): void => {
    while (slots[0] && slots[0].at <= at - KEPT_MS) slots.shift()
  }
  return {
    since,
    observe({ status, durationMs }) {
      const { outcomes, durations } = current()
      outcomes[outcomeOf(status)] += 1
      increment(durations, bucketOf(REQUEST_SECONDS, durationMs / 1000))
    },
    storeCheck(store, seconds) {
      const { stores } = current()
      const counts = stores.get(store) ?? emptyBuckets(STORE_CHECK_SECONDS)
      increment(counts, bucketOf(STORE_CHECK_SECONDS, seconds))
      stores.set(store, counts)
    },
    slots() {
      drop(clock.now())
      return slots
    },
  }
}

/** A count of 0 for each bucket of `bounds`, and for values above them. */
const emptyBuckets = (bounds: readonly number[]): number[] =>
  Array.from({ length: bounds.length + 1 }, () => 0)

function increment(counts: number[], bucket: number): void {
  counts[bucket] = (counts[bucket] ?? 0) + 1
}
