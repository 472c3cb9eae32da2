import {
  DECISION_OUTCOMES,
  HISTORY_MS,
  type History,
  SLOT_MS,
  STORE_CHECK_SECONDS,
  quantileOf,
} from '@gatewright/host/internal'

/** Round trips to one store: the median and the 99th percentile, in ms. */
interface Latency {
  readonly p50Ms: number | null
  readonly p99Ms: number | null
}

/** Returns requests by outcome over the last 24 hours of this process. */
export function decisionsOverTime(history: History): object {
  const slots = history.slots()
  const totals = DECISION_OUTCOMES.map(outcome => [
    outcome,
    slots.reduce((sum, { outcomes }) => sum + outcomes[outcome], 0),
  ])
  return {
    since: new Date(history.since).toISOString(),
    slotSeconds: SLOT_MS / 1000,
    windowSeconds: HISTORY_MS / 1000,
    totals: Object.fromEntries(totals),
    slots: slots.map(({ at, outcomes }) => ({ at: new Date(at).toISOString(), ...outcomes })),
  }
}

/** Returns the latency of each store over the last 24 hours of this process: in total and by slot. */
export function storesOverTime(history: History): object {
  const slots = history.slots()
  const names = [...new Set(slots.flatMap(({ stores }) => [...stores.keys()]))].sort()
  return {
    slotSeconds: SLOT_MS / 1000,
    stores: names.map(name => {
      const counts = slots.map(({ at, stores }) => ({ at, counts: stores.get(name) ?? [] }))
      const all = STORE_CHECK_SECONDS.concat(Infinity).map((_, bucket) =>
        counts.reduce((sum, slot) => sum + (slot.counts[bucket] ?? 0), 0),
      )
      return {
        name,
        checks: all.reduce((sum, count) => sum + count, 0),
        ...latencyOf(all),
        slots: counts.map(slot => ({ at: new Date(slot.at).toISOString(), ...latencyOf(slot.counts) })),
      }
    }),
  }
}

function latencyOf(counts: readonly number[]): Latency {
  const ms = (quantile: number): number | null => {
    const seconds = quantileOf(STORE_CHECK_SECONDS, counts, quantile)
    return seconds === undefined ? null : seconds * 1000
  }
  return { p50Ms: ms(0.5), p99Ms: ms(0.99) }
}
