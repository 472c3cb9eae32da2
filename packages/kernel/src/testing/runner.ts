/**
 * The functions of a test runner that a contract suite calls. Those of Vitest, mocha and node:test fit; for tap see
 * `collectTests`. Suites assert with node:assert, so a test fails by rejecting.
 */
export interface TestRunner {
  describe(name: string, define: () => void): void
  it(name: string, run: () => Promise<void>): void
}

/** Collects the tests of a suite without running them, for runners of another style. */
export function collectTests(
  suite: (runner: TestRunner) => void,
): { readonly name: string; readonly run: () => Promise<void> }[] {
  const tests: ReturnType<typeof collectTests> = []
  suite({
    describe: (_name, define) => define(),
    it: (name, run) => {
      tests.push({ name, run })
    },
  })
  return tests
}

/** Runs a suite and returns the names of the tests that failed. Used to show that a suite catches a broken adapter. */
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
