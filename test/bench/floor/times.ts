/** What a load of some seconds found. Times are in ms. */
export interface LoadResult {
  readonly payments: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
}

/** Sums up the times of payments that were made within some seconds. Default: as many payments as times. */
export function timesOf(
  times: readonly number[],
  seconds: number,
  payments: number = times.length,
): LoadResult {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.ceil(sorted.length * share) - 1] ?? 0
  return { payments, perSecond: payments / seconds, p50: at(0.5), p99: at(0.99) }
}
