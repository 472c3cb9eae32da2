import t from 'tap'
import { PASSES, run } from './run-files.ts'

const FAILS = `import t from 'tap'
console.error('written by one that fails')
t.test('adds', async t => t.equal(1 + 1, 3))`
const EMPTY = `console.error('no tests')`
const SKIPS = `import t from 'tap'
t.test('adds', { skip: true }, async t => t.equal(1 + 1, 2))
t.test('counts', async t => t.pass())`
const ENDS_ITS_PROCESS = `import t from 'tap'
t.test('adds', async t => { t.pass(); process.stderr.write('the end', () => process.kill(process.pid, 'SIGKILL')); await new Promise(() => setInterval(() => {}, 1000)) })`

/** The tests of what is known of each file, for processes of one file or of several. */
export function testOwnResults(together: number): void {
  const how = together === 1 ? 'one file a process' : 'several files a process'
  t.test(`${how}: each file has its own result and what it wrote`, async t => {
    const folder = t.testdir({
      'a.mjs': PASSES,
      'b.mjs': FAILS,
      'c.mjs': EMPTY,
      'd.mjs': SKIPS,
      'e.mjs': PASSES,
    })
    const files = await run(folder, ['a.mjs', 'b.mjs', 'c.mjs', 'd.mjs', 'e.mjs'], together)
    t.same(
      files.map(({ passed, output }) => [passed, output]),
      [
        [1, 'written by one that passes\n'],
        [0, 'written by one that fails\n'],
        [0, 'no tests\n'],
        [1, ''],
        [1, 'written by one that passes\n'],
      ],
    )
    const [a, b, c, d, e] = files.map(({ failures }) => failures.join())
    t.same([a, e], ['', ''])
    t.match(b, /adds > should be equal/)
    t.match(c, 'ran no tests')
    t.match(d, 'a skipped test proves nothing')
  })

  t.test(`${how}: a process that is killed fails the file that it ran, with what it wrote`, async t => {
    const folder = t.testdir({ 'a.mjs': PASSES, 'b.mjs': ENDS_ITS_PROCESS })
    const [passed, killed] = await run(folder, ['a.mjs', 'b.mjs'], together)
    t.match(passed, { passed: 1, failures: [] })
    t.match(killed?.failures.join(), /did not end: its process ended with SIGKILL/)
    t.equal(killed?.output, 'the end\n')
  })
}
