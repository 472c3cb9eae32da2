import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { testOwnResults } from './own-results.ts'
import { PASSES, run, spoiledBy } from './run-files.ts'

testOwnResults(10)

t.test('every result of a file that has thousands is its own', async t => {
  const many = `import t from 'tap'
t.test('counts', async t => { for (let n = 0; n < 5000; n++) t.ok(n < 4999) })`
  const folder = t.testdir({ 'a.mjs': many, 'b.mjs': PASSES })
  const [a, b] = await run(folder, ['a.mjs', 'b.mjs'], 10)
  t.match([a?.passed, a?.failures.length], [4999, 1])
  t.match(b, { passed: 1, failures: [] })
})

t.test('a process whose files leave something open is killed at its limit', async t => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const folder = t.testdir({ 'a.mjs': spoiledBy('setInterval(() => {}, 1000)'), 'b.mjs': PASSES })
  const ended = run(folder, ['a.mjs', 'b.mjs'], 10, 500)
  // On Node 20 it can remove the timer of a signal.
  const collecting = setInterval(collectGarbage, 100)
  t.equal((await ended).length, 2, 'it has ended')
  clearInterval(collecting)
})

t.test('a file whose teardown fails says why', async t => {
  const folder = t.testdir({
    'a.mjs': PASSES,
    'b.mjs': spoiledBy(`}); t.teardown(async () => { throw new Error('still open') `),
    'c.mjs': PASSES,
  })
  const [a, b, c] = await run(folder, ['a.mjs', 'b.mjs', 'c.mjs'], 10)
  t.match([a?.failures, c?.failures], [[], []])
  t.match(b?.failures.join(), /still open/)
})

t.test(
  'a file that sets the exit code fails, and an error that comes late fails the file that runs then',
  async t => {
    const folder = t.testdir({
      'a.mjs': PASSES,
      'b.mjs': spoiledBy('process.exitCode = 1'),
      'c.mjs': spoiledBy(`process.once('later', () => { Promise.reject(new Error('of nobody')) })`),
      'd.mjs': `import t from 'tap'
t.test('waits', async t => { process.emit('later'); await new Promise(() => setTimeout(() => {}, 60_000)) })`,
      'e.mjs': PASSES,
    })
    const files = await run(folder, ['a.mjs', 'b.mjs', 'c.mjs', 'd.mjs', 'e.mjs'], 10)
    t.same(
      files.map(({ passed }) => passed),
      [1, 1, 1, 0, 1],
    )
    const [a, b, c, d, e] = files.map(({ failures }) => failures.join())
    t.same([a, c, e], ['', '', ''])
    t.match(b, /set process\.exitCode to 1/)
    t.match(d, /its process ended with code 1/)
    t.match(
      files[3]?.output,
      /no test awaits, of this file or of one before it: Error: of nobody\n[^]*c\.mjs/,
    )
  },
)
