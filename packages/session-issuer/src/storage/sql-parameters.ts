import { laneOf, routeOfDigest, routeOfId, routeOfPolicy } from '../route.ts'

/** `$1, $2, ...` for a list of values that starts at parameter `from`. */
export function parameters(count: number, from = 1): string {
  return Array.from({ length: count }, (_, index) => `$${from + index}`).join(', ')
}

/**
 * Repeats the last value up to the next power of two. A statement has another text for each number of values, and a connection
 * keeps each prepared text: so there are a dozen texts and not a thousand.
 */
export function padded<T>(values: readonly T[]): readonly T[] {
  const size = 2 ** Math.ceil(Math.log2(values.length))
  return [...values, ...Array<T>(size - values.length).fill(values.at(-1) as T)]
}

/** The lane of an account in the tables, by the digest of its id. A text, as the accounts of other tables are: then the lock of a lane lies with its rows. */
export const laneOfDigest = (account: string): string => String(laneOf(routeOfDigest(account)))

/** The lane of the account of a key, session or audit row. */
export const laneOfId = (id: string): string => String(laneOf(routeOfId(id)))

/** The lane of the account of a policy. */
export const laneOfPolicy = (id: string): string => String(laneOf(routeOfPolicy(id)))

/**
 * A condition that a column has one of these values and the lane of each of them, with its parameters, which start at `$1`. Values of one
 * account are looked for on one machine.
 */
export function inLanes(
  ids: readonly string[],
  laneOfEach: (id: string) => string,
  column = 'id',
): { readonly text: string; readonly values: readonly string[] } {
  const wanted = padded([...new Set(ids)])
  const lanes = padded([...new Set(ids.map(laneOfEach))])
  const text = `lane in (${parameters(lanes.length)}) and ${column} in (${parameters(wanted.length, lanes.length + 1)})`
  return { text, values: [...lanes, ...wanted] }
}
