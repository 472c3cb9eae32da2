// What a test file may do to the process that it shares with others, and the results of files that have a process of their own.
import { join } from 'node:path'
import t from 'tap'
import { testOwnResults } from './own-results.ts'
import { PASSES, run, spoiledBy, WAITS } from './run-files.ts'

const SPOILED: Readonly<Record<string, string>> = {
  'sets the exit code': spoiledBy('process.exitCode = 1'),
  'ends the process with code 1': spoiledBy('process.exit(1)'),
  'ends the process with code 0': spoiledBy('process.exit(0)'),
  'ends the process while it is loaded': 'process.exit(1)',
  'fails while it is loaded': `throw new Error('not loaded')`,
  'leaves a rejection': spoiledBy(`Promise.reject(new Error('of nobody')); await new Promise(setImmediate)`),
  'throws outside of its test': spoiledBy(
    `setImmediate(() => { throw new Error('of nobody') }); await new Promise(resolve => setTimeout(resolve, 50))`,
  ),
}

testOwnResults(1)

for (const [what, spoiled] of Object.entries(SPOILED)) {
  t.test(`a file that ${what} fails, and those before and after it in its process do not`, async t => {
    const folder = t.testdir({ 'a.mjs': PASSES, 'b.mjs': spoiled, 'c.mjs': WAITS, 'd.mjs': PASSES })
    const files = await run(folder, ['a.mjs', 'b.mjs', 'c.mjs', 'd.mjs'], 10)
    const failed = files.filter(({ failures }) => failures.length > 0)
    t.same(
      failed.map(({ file }) => file),
      [join(folder, 'b.mjs')],
    )
    const others = files.filter(file => !failed.includes(file))
    t.same(
      others.map(({ passed }) => passed),
      [1, 1, 1],
    )
  })
}
