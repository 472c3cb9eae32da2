import t from 'tap'
import type { FileRun } from './test-process.ts'
import { TestReport } from './test-report.ts'

const PASSED: FileRun = {
  file: 'build/test/a/b/one.test.js',
  cpuMs: 1500,
  passed: 3,
  failures: [],
  output: 'warning\n',
}
const FAILED: FileRun = {
  file: 'build/test/a/b/c/two.test.js',
  cpuMs: 200,
  passed: 1,
  failures: ['adds > 1 is 2'],
  output: 'what it wrote\n',
}

function reportOn(runs: readonly FileRun[], isTTY?: boolean): { report: TestReport; printed: () => string } {
  let text = ''
  const write = (more: string): void => {
    text += more
  }
  const report = new TestReport(
    runs.map(({ file }) => file),
    isTTY === undefined ? { write } : { write, isTTY },
  )
  return { report, printed: () => text }
}

t.test('a folder has one line, when the last of its files has ended, without what they wrote', async t => {
  const { report, printed } = reportOn([PASSED, { ...PASSED, file: 'build/test/a/b/c/d.test.js' }])
  report.ended(PASSED)
  t.equal(printed(), '')
  report.ended({ ...PASSED, file: 'build/test/a/b/c/d.test.js' })
  t.equal(printed(), 'test/a/b: 2 files, 6 passed, 3.0 s of CPU\n')
  t.equal(report.close(4), 0)
  t.match(printed(), /# 4 hosts started\n# 2 files in \d+\.\d s, 3\.0 s of CPU\n6 passed, 0 failed\n$/)
})

t.test('a failed file is shown with what it wrote and the command that runs it alone', async t => {
  const { report, printed } = reportOn([PASSED, FAILED])
  report.ended(FAILED, { TEST_HOST_STORES: 'postgres' })
  t.equal(
    printed(),
    `not ok test/a/b/c/two.test.ts > adds > 1 is 2
# its output:
what it wrote
# alone: TEST_HOST_STORES=postgres npm test -- test/a/b/c/two.test.ts
`,
  )
})

t.test('files that were not run have failed', async t => {
  const { report, printed } = reportOn([PASSED, FAILED])
  report.ended(PASSED)
  t.equal(report.close(0), 1)
  t.match(printed(), /not ok 1 files were not run\n[^]*3 passed, 1 failed\n$/)
})

t.test('on a terminal one line changes in place of the lines of folders, and failures stay', async t => {
  const { report, printed } = reportOn([PASSED, FAILED], true)
  report.ended(PASSED)
  report.ended(FAILED)
  const shown = printed()
    .split('\n')
    .map(line => line.split('\u001B[K').at(-1))
    .join('\n')
  t.match(shown, /^not ok test\/a\/b\/c\/two\.test\.ts > adds > 1 is 2\n/m)
  t.match(shown, /2 of 2 files, 4 passed, 1 failed, \d+\.\d s$/)
  t.notMatch(printed(), 'test/a/b:')
})
