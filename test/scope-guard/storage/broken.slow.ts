import { Fault } from '@gatewright/kernel'
import { failingTests } from '@gatewright/kernel/testing'
import type { SpendStorage } from '@gatewright/scope-guard'
import type { CounterUsage } from '#packages/scope-guard/dist/storage/port.js'
import { memorySpends } from '@gatewright/scope-guard/memory'
import { spendStorageContract, spendStorageFaults } from '@gatewright/scope-guard/testing'
import t from 'tap'

const failures = (broken: SpendStorage): Promise<string[]> =>
  failingTests(runner =>
    spendStorageContract(runner, 'broken', async () => ({ connections: [broken], close: async () => {} })),
  )
const yieldOnce = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

t.test('accepts a correct adapter, as the control of the tests below', async t => {
  t.same(await failures(memorySpends()), [])
})

t.test('detects an adapter that reads the counters first and adds afterwards', async t => {
  const sound = memorySpends()
  const broken: SpendStorage = {
    ...sound,
    async reserve(account, hold, items, now) {
      const usage = await sound.usage(
        account,
        items.map(({ counter }) => counter),
      )
      await yieldOnce()
      const index = items.findIndex(({ amount, cap }, n) => (usage[n]?.used ?? 0) + amount > cap)
      if (index >= 0) return { outcome: 'over', index, used: usage[index]?.used ?? 0 }
      return sound.reserve(
        account,
        hold,
        items.map(item => ({ ...item, cap: Number.MAX_SAFE_INTEGER })),
        now,
      )
    },
  }
  const failed = await failures(broken)
  for (const title of [
    'accepts exactly 20 of 100 simultaneous reservations of 1 under a cap of 20',
    'keeps the sum of simultaneous random amounts at or below the cap',
    'adds to all counters or to none, also for simultaneous reservations in opposite order',
    'counts a reservation without a hold id at once',
  ]) {
    t.ok(failed.includes(title), title)
  }
})

t.test('detects an adapter that adds to some counters and not to others', async t => {
  const sound = memorySpends()
  const broken: SpendStorage = {
    ...sound,
    async reserve(account, hold, items, now) {
      const used: number[] = []
      for (const [index, item] of items.entries()) {
        const one = await sound.reserve(account, hold && `${hold}#${index}`, [item], now)
        if (one.outcome === 'over') return { ...one, index }
        if (one.outcome === 'held') used.push(...one.used)
        else return one
      }
      return { outcome: 'held', used }
    },
  }
  const title = 'adds to all counters or to none, also for simultaneous reservations in opposite order'
  t.ok((await failures(broken)).includes(title))
})

const REPEATED_LATER = 'finds the hold of a reservation that is repeated in a later window of its counters'

t.test('detects an adapter whose holds expire', async t => {
  const sound = memorySpends()
  const holds: [string, string][] = []
  const broken: SpendStorage = {
    ...sound,
    async reserve(account, hold, items, now) {
      if (hold !== null) holds.push([account, hold])
      return sound.reserve(account, hold, items, now)
    },
    async collect(limit, now) {
      for (const [account, hold] of holds) await sound.release(account, hold)
      return sound.collect(limit, now)
    },
  }
  t.same((await failures(broken)).sort(), [
    REPEATED_LATER,
    'keeps the counter of an open hold, also 400 days later',
  ])
})

t.test('detects an adapter that compares the counters of one window', async t => {
  const sound = memorySpends()
  const broken: SpendStorage = {
    ...sound,
    reserve: (account, hold, items, now) =>
      sound.reserve(
        account,
        hold,
        items.map(({ series: _series, ...item }) => item),
        now,
      ),
  }
  t.same((await failures(broken)).sort(), [
    REPEATED_LATER,
    'gives back to the window of the reservation, also if it was repeated in a later one',
  ])
})

t.test('detects an adapter that deletes no expired counter', async t => {
  const broken: SpendStorage = { ...memorySpends(), collect: async () => 0 }
  t.same(await failures(broken), [
    'deletes at most the given number of expired counters, and none before the grace period ends',
    'deletes the buckets that have expired, and no others',
  ])
})

t.test('detects an adapter that counts the current bucket alone', async t => {
  const sound = memorySpends()
  const broken: SpendStorage = {
    ...sound,
    reserve: (account, hold, items, now) => {
      const alone = items.map(({ buckets, ...item }) =>
        buckets
          ? { ...item, buckets: { ...buckets, oldest: buckets.current, newest: buckets.current } }
          : item,
      )
      return sound.reserve(account, hold, alone, now)
    },
  }
  const failed = await failures(broken)
  for (const title of [
    'counts what the buckets from the oldest to the newest have together',
    'counts what a host whose clock is one bucket ahead has added',
    'accepts exactly 20 of 100 simultaneous reservations in two buckets under a cap of 20',
  ]) {
    t.ok(failed.includes(title), title)
  }
})

t.test('detects an adapter that ignores buckets', async t => {
  const sound = memorySpends()
  const broken: SpendStorage = {
    ...sound,
    reserve: (account, hold, items, now) =>
      sound.reserve(
        account,
        hold,
        items.map(({ buckets: _buckets, ...item }) => item),
        now,
      ),
  }
  t.ok(
    (await failures(broken)).includes('counts what the buckets from the oldest to the newest have together'),
  )
})

t.test('detects an adapter that adds again when a reservation is repeated', async t => {
  const sound = memorySpends()
  let n = 0
  const broken: SpendStorage = {
    ...sound,
    reserve: (account, hold, items, now) => sound.reserve(account, hold && `${hold}#${n++}`, items, now),
    settle: (account, hold, actual) => sound.settle(account, `${hold}#${n - 1}`, actual),
    release: (account, hold) => sound.release(account, `${hold}#${n - 1}`),
  }
  const title = 'counts a repeated reservation once and reports other amounts under its id as a conflict'
  t.ok((await failures(broken)).includes(title))
})

t.test('detects an adapter that gives back without checking that the hold exists', async t => {
  const sound = memorySpends()
  const broken: SpendStorage = {
    ...sound,
    async settle(account, hold, actual) {
      const outcome = await sound.settle(account, hold, actual)
      return outcome === 'gone' ? 'settled' : outcome
    },
  }
  const failed = await failures(broken)
  t.ok(failed.includes('settles once, lowers amounts to what was spent, and leaves counts as they are'))
  t.ok(failed.includes('lets one of 40 simultaneous settlements and releases of a hold take effect'))
})

t.test('detects an adapter that reports no open holds, or counts them for ever', async t => {
  const sound = memorySpends()
  const count = (held: (usage: CounterUsage) => number): SpendStorage => ({
    ...sound,
    usage: async (account, counters) =>
      (await sound.usage(account, counters)).map(usage => ({ ...usage, held: held(usage) })),
  })
  const title = 'reports held and settled amounts separately'
  t.ok((await failures(count(() => 0))).includes(title))
  t.ok((await failures(count(({ used }) => used))).includes(title))
})

t.test('detects an adapter that settles more than was held', async t => {
  const sound = memorySpends()
  const broken: SpendStorage = {
    ...sound,
    settle: async (account, hold, actual) => {
      const outcome = await sound.settle(account, hold, actual)
      return outcome === 'exceeds' ? 'settled' : outcome
    },
  }
  t.same(await failures(broken), [
    'settles once, lowers amounts to what was spent, and leaves counts as they are',
  ])
})

t.test('detects an adapter that is off by one at the cap', async t => {
  const sound = memorySpends()
  const broken: SpendStorage = {
    ...sound,
    reserve: (account, hold, items, now) =>
      sound.reserve(
        account,
        hold,
        items.map(item => ({ ...item, cap: item.cap - 1 })),
        now,
      ),
  }
  t.ok((await failures(broken)).includes('holds up to the cap exactly and returns what is used'))
})

t.test('detects an adapter that treats different names as equal', async t => {
  const sound = memorySpends()
  const broken: SpendStorage = {
    ...sound,
    reserve: (account, hold, items, now) => sound.reserve(account.normalize('NFC'), hold, items, now),
  }
  t.same(await failures(broken), ['keeps accounts, counters and holds with hostile names apart'])
})

t.test(
  'detects an adapter that returns a result when its connection is cut or the reply is malformed',
  async t => {
    const healthy = memorySpends()
    const swallowing: SpendStorage = {
      ...healthy,
      reserve: async (_account, _hold, items) => ({ outcome: 'held', used: items.map(() => 0) }),
      settle: async () => 'settled',
      usage: async (_account, counters) => counters.map(() => ({ used: 0, held: 0 })),
    }
    const hurt = { healthy, cutBefore: swallowing, cutAfter: swallowing, malformed: swallowing }
    const failed = await failingTests(runner =>
      spendStorageFaults(runner, 'broken', async () => ({ ...hurt, close: async () => {} })),
    )
    t.equal(failed.length, 6)
  },
)

t.test('detects an adapter that reports no usage when its connection is cut while it reads', async t => {
  const healthy = memorySpends()
  const cut = async (): Promise<never> => {
    throw new Fault('ERR_STORE_UNAVAILABLE', 'cut')
  }
  const usage: SpendStorage['usage'] = async (_account, counters) =>
    counters.map(() => ({ used: 0, held: 0 }))
  const failed = await failingTests(runner =>
    spendStorageFaults(runner, 'broken', async () => ({
      healthy,
      cutBefore: { reserve: cut, settle: cut, release: cut, collect: cut, usage },
      cutAfter: {
        ...healthy,
        reserve: async (...values) => healthy.reserve(...values).then(cut),
        settle: async (...values) => healthy.settle(...values).then(cut),
        usage,
      },
      malformed: { reserve: cut, settle: cut, release: cut, collect: cut, usage: cut },
      close: async () => {},
    })),
  )
  t.same(failed, [
    'throws if the connection is cut while usage is read, and never reports that nothing is used',
  ])
})

t.test('detects an adapter that decides by its own clock', async t => {
  const sound = memorySpends()
  const reserving: SpendStorage = {
    ...sound,
    async reserve(...values) {
      // Forgets what has expired by its own clock.
      await sound.collect(Infinity, Date.now())
      return sound.reserve(...values)
    },
  }
  const collecting: SpendStorage = { ...sound, collect: limit => sound.collect(limit, Date.now()) }
  for (const broken of [reserving, collecting]) t.not((await failures(broken)).length, 0)
})
