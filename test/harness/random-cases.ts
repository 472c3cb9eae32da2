/** The variable by which `random-cases.slow.ts` makes the same tests try more. */
export const TIMES = 'TEST_RANDOM_CASES'
const times = Number(process.env[TIMES] ?? 0.25)

/** How many random cases a test tries: a quarter of `count` in the short suites, all or three times as many in the long ones. */
export const randomCases = (count: number): number => Math.ceil(count * times)

/** The golden ratio: its multiples modulo 1 are spread evenly, so that no row and no column of a table is left out. */
const RATIO = (Math.sqrt(5) - 1) / 2

/** The cases of a table that a test tries: a quarter, spread over all of it and the same in each run, in the short suites, all in the long ones. */
export const sampleOf = <T>(cases: readonly T[]): readonly T[] =>
  times >= 1 ? cases : cases.filter((_, at) => (at * RATIO) % 1 < times)
