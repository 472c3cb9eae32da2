/** All cases of every suite that has turns, in one run. */
export const ALL_TURNS: boolean = process.env['TEST_ALL_TURNS'] === '1'
/** `YYYY-MM-DD`: another day than today. */
const DAY = process.env['TEST_DAY'] ?? new Date().toISOString().slice(0, 10)
const DAY_MS = 86_400_000

/** The day of this run as a number; a day later it is one more. */
export const DAY_NUMBER = Math.floor(Date.parse(DAY) / DAY_MS)

/** Rows of a table whose query plans are checked: an index of so many has as many levels as one of a million, which all turns take. */
export const MANY_ROWS = ALL_TURNS ? 1_000_000 : 250_000

/**
 * The cases that this run takes of many that cost much and prove nearly the same: `count` of them, which move on every day, so that all have
 * had their turn after `cases.length / count` days. Only for long suites. `TEST_ALL_TURNS=1` takes all, `TEST_DAY` another day's.
 */
export function turnOf<T>(cases: readonly T[], count: number, day = DAY_NUMBER): readonly T[] {
  if (ALL_TURNS || count >= cases.length) return cases
  const first = day * count
  return Array.from({ length: count }, (_, at) => cases[(first + at) % cases.length] as T)
}

/** Every how-many-th place a run looks at, and at which it begins: each place has its turn within `every` days. */
export function stepsOf(every: number): { readonly first: number; readonly every: number } {
  return ALL_TURNS ? { first: 0, every: 1 } : { first: DAY_NUMBER % every, every }
}
