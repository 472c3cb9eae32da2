import type { EpochMs } from '@gatewright/kernel'
import type { Buckets, BucketUsage } from '../storage/port.ts'
import type { RollingWindow, Window } from './policy.ts'

const HOUR_MS = 3_600_000

/** The length of a bucket of each rolling window, and how many of them are as long as the window. */
const ROLLING: Readonly<Record<RollingWindow, { readonly bucketMs: number; readonly count: number }>> = {
  '24h': { bucketMs: HOUR_MS, count: 24 },
  '7d': { bucketMs: 6 * HOUR_MS, count: 28 },
  '30d': { bucketMs: 24 * HOUR_MS, count: 30 },
}

export const isRolling = (window: Window): window is RollingWindow => Object.hasOwn(ROLLING, window)

/** Finds the buckets that count at an instant: the one that it belongs to, and those that have not left the window whole. */
export function bucketsAt(window: RollingWindow, now: EpochMs): Buckets {
  const { bucketMs, count } = ROLLING[window]
  const current = Math.floor(now / bucketMs)
  return { oldest: current - count, current, newest: current + 1 }
}

/** Numbers the periods that are as long as a rolling window, from 1970-01-01 UTC, and returns that of a bucket. */
export function periodOf(window: RollingWindow, bucket: number): number {
  return Math.floor(bucket / ROLLING[window].count)
}

/** The instant from which on a bucket no longer counts: then all of it has left the window. */
export function leavesAt(window: RollingWindow, bucket: number): EpochMs {
  const { bucketMs, count } = ROLLING[window]
  return (bucket + 1 + count) * bucketMs
}

/**
 * Finds when so much has left a rolling window that `excess` is free. For more than the window has, and so for an amount above its cap,
 * when the first part leaves. Null: nothing is used.
 */
export function freeAt(
  window: RollingWindow,
  buckets: readonly BucketUsage[],
  excess: number,
): EpochMs | null {
  const used = buckets.filter(bucket => bucket.used > 0)
  let freed = 0
  const last = used.find(bucket => (freed += bucket.used) >= excess) ?? used[0]
  return last === undefined ? null : leavesAt(window, last.bucket)
}
