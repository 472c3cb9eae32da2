import { Fault } from '@gatewright/kernel'
import { collectTests } from '@gatewright/kernel/testing'
import { isStoreFault, openedTests } from '@gatewright/kernel/internal/testing'
import t from 'tap'

t.test('opens for each test, gives it a key of its own, and closes even when the test fails', async t => {
  const events: string[] = []
  const open = async () => {
    events.push('open')
    return { close: async () => void events.push('close') }
  }
  const keys = new Set<string>()
  const tests = collectTests(runner => {
    const test = openedTests(runner, open)
    test('passes', async (_opened, key) => void keys.add(key))
    test('fails', async (_opened, key) => {
      keys.add(key)
      throw new Error('no')
    })
  })
  await tests[0]?.run()
  await t.rejects(tests[1]?.run() ?? Promise.resolve(), /no/)
  t.same(events, ['open', 'close', 'open', 'close'])
  t.equal(keys.size, 2)
})

t.test('distinguishes the fault of a store from every other error', async t => {
  t.equal(isStoreFault(new Fault('ERR_STORE_REPLY', 'garbled')), true)
  for (const other of [
    new Fault('ERR_KEYS_UNAVAILABLE', 'no keys'),
    new Error('ERR_STORE_REPLY'),
    'x',
    undefined,
  ]) {
    t.equal(isStoreFault(other), false)
  }
})
