/** The variable by which `random-cases.slow.ts` makes the same tests try more. */
export const TIMES = 'TEST_RANDOM_CASES'
const times = Number(process.env[TIMES] ?? 0.5)

/** How many random cases a test tries: half of `count` in the short suites, three times as many in the long ones. */
export const randomCases = (count: number): number => Math.ceil(count * times)
