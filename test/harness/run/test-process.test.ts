import { join } from 'node:path'
import t from 'tap'
import { runTests, type FileRun } from './test-process.ts'

const PASSES = `import t from 'tap'
console.error('written by one that passes')
t.test('adds', async t => t.equal(1 + 1, 2))`
const FAILS = `import t from 'tap'
console.error('written by one that fails')
t.test('adds', async t => t.equal(1 + 1, 3))`
const EMPTY = `console.error('no tests')`
const SKIPS = `import t from 'tap'
t.test('adds', { skip: true }, async t => t.equal(1 + 1, 2))
t.test('counts', async t => t.pass())`
const ENDS_ITS_PROCESS = `import t from 'tap'
t.test('adds', async t => { t.pass(); process.stderr.write('the end', () => process.kill(process.pid, 'SIGKILL')); await new Promise(() => setInterval(() => {}, 1000)) })`

async function run(folder: string, names: readonly string[], together: number): Promise<FileRun[]> {
  const files: FileRun[] = []
  const setting = {
    env: process.env,
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    ended: (file: FileRun) => files.push(file),
  }
  const left = names.map(name => join(folder, name))
  while (left.length > 0) await runTests({ files: left, together }, setting)
  return files
}

for (const together of [1, 10]) {
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

/** Waits until a later file has begun, if there is one. */
const WAITS = `import t from 'tap'
t.test('waits', async t => { await new Promise(resolve => setTimeout(resolve, 500)); t.pass() })`

/** A file with one test that passes, and with something that ends its process or spoils it. */
const spoiledBy = (code: string): string => `import t from 'tap'
t.test('adds', async t => { t.equal(1 + 1, 2); ${code} })`

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

t.test(
  'an error that comes after its file fails the file that runs then, with the error, and no other',
  async t => {
    const late = spoiledBy(`setTimeout(() => Promise.reject(new Error('of nobody')), 100)`)
    const folder = t.testdir({ 'a.mjs': late, 'b.mjs': WAITS, 'c.mjs': PASSES })
    const [first, blamed, last] = await run(folder, ['a.mjs', 'b.mjs', 'c.mjs'], 10)
    t.match(
      [first, last],
      [
        { passed: 1, failures: [] },
        { passed: 1, failures: [] },
      ],
    )
    t.match(blamed?.failures.join(), /its process ended with code 1/)
    t.match(blamed?.output, /no test awaits, of this file or of one before it: Error: of nobody\n[^]*a\.mjs/)
  },
)
