/** What a load of some seconds found. Times are in ms. */
export interface LoadResult {
  readonly payments: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
}

/** Sums up the times of payments that were made within some seconds. */
export function timesOf(times: readonly number[], seconds: number): LoadResult {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.ceil(sorted.length * share) - 1] ?? 0
  return { payments: times.length, perSecond: times.length / seconds, p50: at(0.5), p99: at(0.99) }
}
