/**
 * What a contract suite needs of a test runner. Vitest, mocha and node:test fit as they are; for tap see
 * `collectTests`. Suites assert with node:assert, so a failed expectation is a rejection.
 */
export interface TestRunner {
  describe(name: string, define: () => void): void
  it(name: string, run: () => Promise<void>): void
}

/** One collected test. */
export interface CollectedTest {
  readonly name: string
  readonly run: () => Promise<void>
}

/** Collects a suite's tests instead of running them, for runners of another style and for testing suites. */
export function collectTests(suite: (runner: TestRunner) => void): CollectedTest[] {
  const tests: CollectedTest[] = []
  suite({
    describe: (_name, define) => define(),
    it: (name, run) => {
      tests.push({ name, run })
    },
  })
  return tests
}

/** Runs a suite and returns the names of the tests that failed: how a suite is shown to catch a broken adapter. */
export async function failingTests(suite: (runner: TestRunner) => void): Promise<string[]> {
  const failed: string[] = []
  for (const { name, run } of collectTests(suite)) {
    try {
      await run()
    } catch {
      failed.push(name)
    }
  }
  return failed
}
