// The tests of random cases and of samples of tables, with four times as many as in the short suites, and tests of races with twelve times as many.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { filesBelow } from './files.ts'
import { compiled } from './run/test-processes.ts'
import { runTests, type FileRun } from './run/test-process.ts'
import { TIMES } from './random-cases.ts'

const RACES = [
  'test/idempotency-store/storage/linearizability.test.ts',
  'test/signature-verifier/one-statement.test.ts',
]
const OTHERS = filesBelow('test', '.test.ts').filter(
  file => !RACES.includes(file) && /\b(?:randomCases|sampleOf)\(/.test(readFileSync(file, 'utf8')),
)
/** Files that a process runs, so that its memory does not grow without end. */
const FILES_A_PROCESS = 20

t.setTimeout(1_800_000)
for (const [tests, times] of [
  [OTHERS, 1],
  [RACES, 3],
] as const) {
  t.test(`${tests.length} files hold in ${times * 4} times as many random cases`, async t => {
    const files = tests.map(compiled)
    const runs: FileRun[] = []
    while (files.length > 0) {
      const { failure } = await runTests(
        { files, together: FILES_A_PROCESS, env: { [TIMES]: String(times) } },
        {
          env: process.env,
          timeoutMs: 300_000,
          signal: new AbortController().signal,
          ended: file => runs.push(file),
        },
      )
      t.equal(failure, undefined)
    }
    t.equal(runs.length, tests.length)
    for (const { file, failures, output } of runs)
      t.equal(failures.length, 0, `${file} passes`, { failures, output })
  })
}
