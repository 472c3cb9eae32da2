import { keyDigest } from '@gatewright/kernel'
import type { BucketUsage, Counter, CounterUsage, SpendItem } from './port.ts'

/** Digits of the number of a bucket in a key, so that keys sort as their buckets do. */
export const BUCKET_DIGITS = 10

/** Returns the key of one bucket of a counter. `base` is the key of the counter. */
export function bucketKey(base: string, bucket: number): string {
  return `${base}.${String(bucket).padStart(BUCKET_DIGITS, '0')}`
}

/** Returns the key that an item adds to: the digest of its counter, with the current bucket of one that rolls. */
export function itemKey({ counter, buckets }: Pick<SpendItem, 'counter' | 'buckets'>): string {
  const digest = keyDigest(counter)
  return buckets === undefined ? digest : bucketKey(digest, buckets.current)
}

/** Cuts the bucket off a key. A reservation that is repeated in another bucket is the same one. */
export function keyWithoutBucket(key: string): string {
  const dot = key.indexOf('.')
  return dot < 0 ? key : key.slice(0, dot)
}

/** Reads the number of the bucket from its key. */
export function bucketOf(key: string): number {
  return Number(key.slice(key.indexOf('.') + 1))
}

/** The name of a counter, and its buckets if it rolls. */
export function counterParts(counter: Counter): Pick<SpendItem, 'counter' | 'buckets'> {
  return typeof counter === 'string' ? { counter } : counter
}

/** Adds up the buckets of a counter, given oldest first. */
export function rollingUsage(
  buckets: readonly (BucketUsage & { readonly held: number })[],
): CounterUsage & { readonly buckets: readonly BucketUsage[] } {
  let [used, held] = [0, 0]
  for (const each of buckets) {
    used += each.used
    held += each.held
  }
  return { used, held, buckets: buckets.map(({ bucket, used }) => ({ bucket, used })) }
}
