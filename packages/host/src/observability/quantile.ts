/** Upper bounds of the buckets of store checks, in seconds. */
export const STORE_CHECK_SECONDS: readonly number[] = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2,
]

/** Upper bounds of the buckets of request durations, in seconds. */
export const REQUEST_SECONDS: readonly number[] = [...STORE_CHECK_SECONDS, 5, 10, 30]

/** Returns the index of the bucket of a value. For a value above all bounds it is the number of bounds. */
export function bucketOf(bounds: readonly number[], value: number): number {
  const index = bounds.findIndex(bound => value <= bound)
  return index === -1 ? bounds.length : index
}

/**
 * Estimates a quantile from the counts of buckets, as Prometheus' `histogram_quantile` does: linear within a bucket, and the
 * highest bound for values above it. Undefined without observations.
 */
export function quantileOf(
  bounds: readonly number[],
  counts: readonly number[],
  quantile: number,
): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  const rank = quantile * total
  let below = 0
  for (const [index, bound] of bounds.entries()) {
    const count = counts[index] ?? 0
    if (count > 0 && below + count >= rank) {
      const lower = bounds[index - 1] ?? 0
      return lower + (bound - lower) * ((rank - below) / count)
    }
    below += count
  }
  return bounds.at(-1)
}
