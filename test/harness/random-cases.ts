/** The variable by which `random-cases.slow.ts` makes the same tests try more. */
export const TIMES = 'TEST_RANDOM_CASES'
const times = Number(process.env[TIMES] ?? 0.25)

/** How many random cases a test tries: a quarter of `count` in the short suites, all or three times as many in the long ones. */
export const randomCases = (count: number): number => Math.ceil(count * times)
