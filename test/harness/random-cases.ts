/** The variable by which `random-cases.slow.ts` makes the same tests try more. */
export const TIMES = 'TEST_RANDOM_CASES'
const times = Number(process.env[TIMES] ?? 1)

/** How many random cases a test tries: `count` in the short suites, several times as many in the long ones. */
export const randomCases = (count: number): number => count * times
