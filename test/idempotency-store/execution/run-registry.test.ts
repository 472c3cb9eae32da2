// The registry of the runs of a process, by itself: which run duplicates wait for, and when they stop.
import { allow } from '@gatewright/kernel'
import t from 'tap'
import { response } from '../support.ts'
import { createLocalRunRegistry } from '#packages/idempotency-store/dist/execution/local-runs.js'

type LocalRun = Parameters<ReturnType<typeof createLocalRunRegistry>['open']>[0]

const run = (key: string, leaseUntil: number, fence?: number, fingerprint = 'f'): LocalRun => ({
  key,
  fingerprint,
  leaseUntil,
  fence,
  outcome: undefined,
})
const OUTCOME = allow({ response: response(201), expiresAt: 9000 })

/** How the runs' waiting duplicates stand after a turn: their outcome, or `waiting`. */
async function outcomesOf(waiting: readonly Promise<unknown>[]): Promise<unknown[]> {
  const turn = new Promise<string>(resolve => setImmediate(resolve, 'waiting'))
  return Promise.all(waiting.map(each => Promise.race([each, turn])))
}

t.test('finds a run until 1 ms before its lease ends', async t => {
  const runs = createLocalRunRegistry()
  const opened = run('a', 100)
  runs.open(opened, 0)
  t.equal(runs.find('a', 99), opened)
  t.equal(runs.find('a', 100), undefined)
  t.equal(runs.find('b', 0), undefined)
})

t.test(
  'stops waiting for runs whose lease has ended exactly when another one opens, for each payload',
  async t => {
    const runs = createLocalRunRegistry()
    const [first, conflicting, live] = [run('a', 100), run('a', 100, 1, 'g'), run('b', 101)]
    for (const each of [first, conflicting, live]) runs.open(each, 0)
    const waiting = [first, conflicting, live].map(each => runs.waitForEnd(each))
    runs.open(run('c', 200), 99)
    t.same(await outcomesOf(waiting), ['waiting', 'waiting', 'waiting'])
    runs.open(run('d', 200), 100)
    t.same(await outcomesOf(waiting), [undefined, undefined, 'waiting'])
  },
)

t.test('replaces a run of the same key whose lease has ended, though an older run is live', async t => {
  const runs = createLocalRunRegistry()
  const [older, ended, next] = [run('a', 1000), run('b', 100), run('b', 1000)]
  runs.open(older, 0)
  runs.open(ended, 0)
  const waiting = runs.waitForEnd(ended)
  runs.open(next, 100)
  t.equal(runs.find('b', 100), next)
  t.same(await outcomesOf([waiting, runs.waitForEnd(older)]), [undefined, 'waiting'])
})

t.test('keeps the first run of a key while another payload runs, and ends each by its own fence', async t => {
  const runs = createLocalRunRegistry()
  const [first, second, other] = [run('a', 100, 1), run('a', 100, 2, 'g'), run('b', 100, 2)]
  for (const each of [first, other, second]) runs.open(each, 0)
  t.equal(runs.find('a', 0), first)
  const waiting = [first, second, other].map(each => runs.waitForEnd(each))
  runs.endClaimed({ storageKey: 'a', fence: 3 }, OUTCOME)
  runs.endClaimed({ storageKey: 'c', fence: 1 }, OUTCOME)
  runs.endClaimed({ storageKey: 'c', fence: 2 }, OUTCOME)
  t.same(await outcomesOf(waiting), ['waiting', 'waiting', 'waiting'])
  runs.endClaimed({ storageKey: 'a', fence: 2 }, OUTCOME)
  t.same(await outcomesOf(waiting), ['waiting', OUTCOME, 'waiting'])
  runs.endClaimed({ storageKey: 'a', fence: 1 }, OUTCOME)
  t.same(await outcomesOf(waiting), [OUTCOME, OUTCOME, 'waiting'])
})

t.test('gives the error of a run whose store call threw to its duplicates', async t => {
  const runs = createLocalRunRegistry()
  const failed = run('a', 100)
  runs.open(failed, 0)
  const waiting = runs.waitForEnd(failed)
  runs.fail(failed, new Error('down'))
  await t.rejects(waiting, { message: 'down' })
})

t.test('does not wait for a run that has already ended, or was never open', async t => {
  const runs = createLocalRunRegistry()
  const [first, second] = [run('a', 100), run('a', 100, 2, 'g')]
  t.same(await outcomesOf([runs.waitForEnd(first)]), [undefined], 'never open')
  for (const each of [first, second]) runs.open(each, 0)
  t.same(await outcomesOf([first, second].map(each => runs.waitForEnd(each))), ['waiting', 'waiting'])
  runs.end(first, OUTCOME)
  runs.end(second, OUTCOME)
  t.same(await outcomesOf([first, second].map(each => runs.waitForEnd(each))), [undefined, undefined])
})

t.test('a renewed run has the new fence and lease, and duplicates go on waiting for it', async t => {
  const runs = createLocalRunRegistry()
  const [first, second] = [run('a', 100, 1), run('a', 100, 2, 'g')]
  for (const each of [first, second]) runs.open(each, 0)
  const waiting = [first, second].map(each => runs.waitForEnd(each))
  runs.renew({ storageKey: 'a', fence: 9 }, 10, 9000)
  runs.renew({ storageKey: 'a', fence: 1 }, 3, 300)
  runs.renew({ storageKey: 'a', fence: 2 }, 4, 300)
  t.equal(runs.find('a', 299), first)
  t.equal(runs.find('a', 300), undefined)
  for (const fence of [1, 2]) runs.endClaimed({ storageKey: 'a', fence }, OUTCOME)
  t.same(await outcomesOf(waiting), ['waiting', 'waiting'])
  for (const fence of [3, 4]) runs.endClaimed({ storageKey: 'a', fence }, OUTCOME)
  t.same(await outcomesOf(waiting), [OUTCOME, OUTCOME])
})

t.test('a renewed run does not keep runs whose lease has ended open', async t => {
  const runs = createLocalRunRegistry()
  const renewed = [run('a', 100, 1), run('a', 100, 2, 'g')]
  const ended = [run('b', 100, 3), run('b', 100, 4, 'g')]
  for (const each of [...renewed, ...ended]) runs.open(each, 0)
  const waiting = [...renewed, ...ended].map(each => runs.waitForEnd(each))
  for (const fence of [1, 2]) runs.renew({ storageKey: 'a', fence }, 10 + fence, 500)
  runs.open(run('c', 500), 100)
  t.same(await outcomesOf(waiting), ['waiting', 'waiting', undefined, undefined])
  t.equal(runs.find('a', 100), renewed[0])
})

t.test('counts the runs that have not ended when the time to drain is over, of each payload', async t => {
  const runs = createLocalRunRegistry()
  const opened = [run('a', 100), run('a', 100, 2, 'g'), run('b', 100)]
  for (const each of opened) runs.open(each, 0)
  t.equal(await runs.drained(Promise.resolve()), 3)
  const drained = runs.drained(new Promise(() => {}))
  for (const each of opened) runs.end(each, OUTCOME)
  t.equal(await drained, 0)
})
