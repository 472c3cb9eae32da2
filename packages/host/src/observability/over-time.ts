import type { EpochMs } from '@gatewright/kernel'
import { COMPARED_MS, HISTORY_MS, SLOT_MS, type History } from './history.ts'
import { DECISION_OUTCOMES } from './outcome.ts'
import { REQUEST_SECONDS, STORE_CHECK_SECONDS, quantileOf } from './quantile.ts'

type Slot = ReturnType<History['slots']>[number]

/** Round trips to one store: the median and the 99th percentile, in ms. */
interface Latency {
  readonly p50Ms: number | null
  readonly p99Ms: number | null
}

/** Figures of the requests of an hour. */
interface HourFigures {
  readonly requestsPerMinute: number
  /** The part of the requests that was denied, also by a rate limit: 0 to 1. Null without requests. */
  readonly refusedShare: number | null
  /** How many requests failed on the host's side. */
  readonly failed: number
  readonly p99Ms: number | null
}

/** What the operator page plots. */
export const overTime = { decisions, stores }

/** Returns requests by outcome over the last 24 hours of this process, and the latest hour beside the same hour a day before. */
function decisions(history: History, now: EpochMs): object {
  const slots = slotsOf(history, windowStart(now, HISTORY_MS))
  const totals = DECISION_OUTCOMES.map(outcome => [outcome, sum(slots, slot => slot.outcomes[outcome])])
  return {
    since: new Date(history.since).toISOString(),
    slotSeconds: SLOT_MS / 1000,
    windowSeconds: HISTORY_MS / 1000,
    totals: Object.fromEntries(totals),
    slots: slots.map(({ at, outcomes, durations }) => ({
      at: new Date(at).toISOString(),
      ...outcomes,
      p99Ms: quantileMs(REQUEST_SECONDS, durations, 0.99),
    })),
    ...hours(history, now),
  }
}

/** Returns the figures of the latest hour, and those of the same hour a day before if this process ran all that hour. */
function hours(
  history: History,
  now: EpochMs,
): { readonly hour: HourFigures; readonly dayBefore: HourFigures | null } {
  const from = windowStart(now, COMPARED_MS)
  const began = Math.max(from, history.since)
  const before = from - HISTORY_MS
  return {
    hour: figuresOf(slotsOf(history, from), now - began),
    dayBefore:
      history.since > before ? null : figuresOf(slotsOf(history, before, before + COMPARED_MS), COMPARED_MS),
  }
}

function figuresOf(slots: readonly Slot[], ms: number): HourFigures {
  const [all, refused, failed] = [
    sum(slots, requestsOf),
    sum(slots, ({ outcomes }) => outcomes.refused + outcomes.limited),
    sum(slots, ({ outcomes }) => outcomes.failed),
  ]
  const durations = addUp(
    REQUEST_SECONDS,
    slots.map(slot => slot.durations),
  )
  return {
    // In its first minute a host has no rate yet.
    requestsPerMinute: all / Math.max(1, ms / 60_000),
    refusedShare: all === 0 ? null : refused / all,
    failed,
    p99Ms: quantileMs(REQUEST_SECONDS, durations, 0.99),
  }
}

const requestsOf = ({ outcomes }: Slot): number =>
  DECISION_OUTCOMES.reduce((total, outcome) => total + outcomes[outcome], 0)

/** Returns the latency of each store over the last 24 hours of this process: in total and by slot. */
function stores(history: History, now: EpochMs): object {
  const slots = slotsOf(history, windowStart(now, HISTORY_MS))
  const names = [...new Set(slots.flatMap(({ stores }) => [...stores.keys()]))].sort()
  return {
    slotSeconds: SLOT_MS / 1000,
    stores: names.map(name => {
      const counts = slots.map(({ at, stores }) => ({ at, counts: stores.get(name) ?? [] }))
      const all = addUp(
        STORE_CHECK_SECONDS,
        counts.map(slot => slot.counts),
      )
      return {
        name,
        checks: all.reduce((total, count) => total + count, 0),
        ...latencyOf(all),
        slots: counts.map(slot => ({ at: new Date(slot.at).toISOString(), ...latencyOf(slot.counts) })),
      }
    }),
  }
}

/** Returns the start of a window that ends with the current slot, so that its figures move while that slot fills. */
const windowStart = (now: EpochMs, ms: number): EpochMs => now - (now % SLOT_MS) + SLOT_MS - ms

/** Returns the slots that began at `from` or later, and before `to`. */
function slotsOf(history: History, from: EpochMs, to: EpochMs = Infinity): readonly Slot[] {
  return history.slots().filter(({ at }) => at >= from && at < to)
}

const sum = (slots: readonly Slot[], value: (slot: Slot) => number): number =>
  slots.reduce((total, slot) => total + value(slot), 0)

/** Adds up the counts of buckets: those of `bounds`, and that of values above them. */
function addUp(bounds: readonly number[], all: readonly (readonly number[])[]): readonly number[] {
  return [...bounds, Infinity].map((_, bucket) =>
    all.reduce((total, counts) => total + (counts[bucket] ?? 0), 0),
  )
}

function latencyOf(counts: readonly number[]): Latency {
  const ms = (quantile: number): number | null => quantileMs(STORE_CHECK_SECONDS, counts, quantile)
  return { p50Ms: ms(0.5), p99Ms: ms(0.99) }
}

function quantileMs(bounds: readonly number[], counts: readonly number[], quantile: number): number | null {
  const seconds = quantileOf(bounds, counts, quantile)
  return seconds === undefined ? null : seconds * 1000
}
