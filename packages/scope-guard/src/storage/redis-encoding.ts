import { keyDigest, malformedReply } from '@gatewright/kernel'
import { counterParts, itemKey } from './counters.ts'
import type { BucketUsage, Counter, CounterUsage, ReserveOutcome, SpendItem } from './port.ts'

/** Encodes the items of a hold. Amounts are strings, since Lua would round large numbers. */
export function holdText(items: readonly SpendItem[]): string {
  const held = items.map(item => {
    const series = item.series === undefined ? [] : [keyDigest(item.series)]
    return [itemKey(item), item.unit, String(item.amount), ...series]
  })
  return JSON.stringify(held)
}

/** Encodes the buckets of a counter for a script: the oldest, the current and the newest one, empty for a counter that does not roll. */
export function bucketArguments(buckets: SpendItem['buckets']): string[] {
  return buckets === undefined
    ? ['', '', '']
    : [String(buckets.oldest), String(buckets.current), String(buckets.newest)]
}

/** Encodes counters for the usage script. */
export function counterArguments(counters: readonly Counter[]): string[] {
  return counters
    .map(counterParts)
    .flatMap(({ counter, buckets }) => [
      keyDigest(counter),
      buckets === undefined ? '' : String(buckets.oldest),
      buckets === undefined ? '' : String(buckets.newest),
    ])
}

/** Reads the reply of the usage script: for each counter what is used, what is held, how many numbers of buckets follow, and these. */
export function readUsageReply(reply: unknown, counters: readonly Counter[]): CounterUsage[] {
  const numbers = readIntegers(reply)
  let at = 0
  const usage = counters.map((counter): CounterUsage => {
    const [used, held, count] = numbers.slice(at, at + 3)
    if (used === undefined || held === undefined || count === undefined)
      throw malformedReply('redis', 'three numbers per counter')
    const buckets = numbers.slice(at + 3, at + 3 + count)
    at += 3 + count
    return typeof counter === 'string' ? { used, held } : { used, held, buckets: readBuckets(buckets) }
  })
  if (at !== numbers.length) throw malformedReply('redis', 'the numbers of each counter')
  return usage
}

/** Reads buckets: the number of each, and what of it is used. */
function readBuckets(numbers: readonly number[]): BucketUsage[] {
  const buckets: BucketUsage[] = []
  for (let at = 0; at < numbers.length; at += 2)
    buckets.push({ bucket: numbers[at] as number, used: numbers[at + 1] as number })
  return buckets
}

/** Reads the integers of a reply. The scripts reply with small numbers as integers, and with large ones as text. */
function readIntegers(reply: unknown): number[] {
  if (!Array.isArray(reply)) throw malformedReply('redis', 'a list')
  const numbers = reply.map(Number)
  if (!numbers.every(Number.isSafeInteger)) throw malformedReply('redis', 'integers')
  return numbers
}

/** Reads the reply of the reserve script. `items` is the number of items of the reservation. */
export function readReserveReply(reply: unknown, items: number): ReserveOutcome {
  const [outcome, ...rest] = readIntegers(reply)
  if (outcome === 1 && rest.length === items) return { outcome: 'held', used: rest }
  const [index, used, ...buckets] = rest
  if (outcome === 0 && index !== undefined && used !== undefined)
    return { outcome: 'over', index, used, ...(buckets.length > 0 ? { buckets: readBuckets(buckets) } : {}) }
  if (outcome === 2 && rest.length === 0) return { outcome: 'conflict' }
  throw malformedReply('redis', 'held, over or conflict')
}
