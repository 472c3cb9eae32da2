// Tests of races, with six times as many random cases as in the short suites.
import t from 'tap'
import { compiled } from './test-processes.ts'
import { runTests, type FileRun } from './test-process.ts'
import { TIMES } from './random-cases.ts'

const TESTS = [
  'test/idempotency-store/storage/linearizability.test.ts',
  'test/signature-verifier/one-statement.test.ts',
]

t.setTimeout(600_000)
t.test('races end the same in six times as many random cases', async t => {
  const files: FileRun[] = []
  const { failure } = await runTests(
    { files: TESTS.map(compiled), together: TESTS.length, env: { [TIMES]: '3' } },
    {
      env: process.env,
      timeoutMs: 300_000,
      signal: new AbortController().signal,
      ended: file => files.push(file),
    },
  )
  t.equal(failure, undefined)
  t.equal(files.length, TESTS.length)
  for (const { file, failures } of files) t.equal(failures.length, 0, `${file} passes`, { failures })
})
