/**
 * Returns the starts of all slots of a window, in seconds, empty slots included. The current slot is left out unless it is the
 * only one: it is incomplete, so it would always look like a decrease.
 */
export function slotTimes(since: string, slotSeconds: number, windowSeconds: number): number[] {
  const end = Math.floor(Date.now() / 1000 / slotSeconds) * slotSeconds
  const began = Math.floor(Date.parse(since) / 1000 / slotSeconds) * slotSeconds
  const start = Math.max(began, end - windowSeconds + slotSeconds)
  const times: number[] = []
  for (let at = start; at <= end; at += slotSeconds) times.push(at)
  return times.length > 1 ? times.slice(0, -1) : times
}

/** Returns the values of slots at given times; `none` where there is no slot. */
export function valuesAt<S extends { readonly at: string }>(
  times: readonly number[],
  slots: readonly S[],
  value: (slot: S) => number | null,
  none: number | null,
): (number | null)[] {
  const byTime = new Map(slots.map(slot => [Date.parse(slot.at) / 1000, slot]))
  return times.map(at => {
    const slot = byTime.get(at)
    return slot ? value(slot) : none
  })
}

/** A plot shows an hour at least, so that a host that has just started has a readable axis. */
const MIN_SECONDS = 3600

/**
 * The first and last second of a time axis, from the times themselves: for a single time, uPlot would choose a range that ends in
 * the future.
 */
export function timeRange(times: readonly number[]): [number, number] {
  const last = times.at(-1) ?? 0
  return [Math.min(times[0] ?? 0, last - MIN_SECONDS), last]
}
