import { endRunHolds, type SpendItem } from '@gatewright/scope-guard'
import { memorySpends } from '@gatewright/scope-guard/memory'
import t from 'tap'

const RUN = { account: 'acc_1', effectId: 'effect' }
const item = (counter: string): SpendItem => ({
  counter,
  unit: 'cents',
  cap: 100,
  amount: 30,
  expiresAt: null,
})

async function setUp() {
  const storage = memorySpends()
  for (const [counter, hold] of [
    ['first', 'effect'],
    ['second', 'effect-2'],
    ['third', 'effect-16'],
    ['other', 'effect-17'],
  ] as const)
    await storage.reserve('acc_1', hold, [item(counter)], 0)
  await storage.reserve('acc_2', 'effect', [item('first')], 0)
  const usage = () => storage.usage('acc_1', ['first', 'second', 'third', 'other'])
  return { storage, usage }
}

t.test('settles all holds of a run in full, and can be repeated', async t => {
  const { storage, usage } = await setUp()
  for (const _ of [1, 2]) {
    await endRunHolds(storage, RUN, 'took_effect')
    const settled = { used: 30, held: 0 }
    t.same(await usage(), [settled, settled, settled, { used: 30, held: 30 }])
  }
  t.same(await storage.usage('acc_2', ['first']), [{ used: 30, held: 30 }])
})

t.test('releases all holds of a run, also if some were released before', async t => {
  const { storage, usage } = await setUp()
  await storage.release('acc_1', 'effect')
  await endRunHolds(storage, RUN, 'never_happened')
  const released = { used: 0, held: 0 }
  t.same(await usage(), [released, released, released, { used: 30, held: 30 }])
})

t.test('throws the fault of the storage', async t => {
  const { storage } = await setUp()
  const down = async (): Promise<never> => {
    throw new Error('down')
  }
  await t.rejects(endRunHolds({ ...storage, release: down }, RUN, 'never_happened'), /down/)
})
