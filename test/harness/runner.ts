import type { TestRunner } from '@gatewright/kernel/testing'
import root from 'tap'

/**
 * Fits tap to the runner that contract suites take. A suite asserts with node:assert, which tap does not see,
 * so a test that resolves is counted as one pass.
 */
export const runner: TestRunner = {
  describe(name, define) {
    const tests: [string, () => Promise<void>][] = []
    const outer = current
    current = tests
    define()
    current = outer
    void root.test(name, async t => {
      for (const [title, run] of tests) {
        await t.test(title, async t => {
          await run()
          t.pass(title)
        })
      }
    })
  },
  it: (name, run) => {
    current?.push([name, run])
  },
}
let current: [string, () => Promise<void>][] | undefined
