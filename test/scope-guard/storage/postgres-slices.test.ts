import { keyDigest } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import { withinTransactionScope } from '@gatewright/kernel/internal/sql'
import { race } from '@gatewright/kernel/testing'
import type { SpendStorage } from '@gatewright/scope-guard'
import { memorySpends } from '@gatewright/scope-guard/memory'
import { migrateSpends, postgresSpends } from '@gatewright/scope-guard/postgres'
import { spendStorageContract, spendStorageFaults } from '@gatewright/scope-guard/testing'
import fc from 'fast-check'
import t from 'tap'
import { faultyPostgres } from '../../harness/faulty.ts'
import { randomCases } from '../../harness/random-cases.ts'
import { openKeptPostgres } from '../../harness/kept-postgres.ts'
import { runner } from '../../harness/runner.ts'
import { runSteps, step } from './slices-model.ts'

/** Caps of the contract suite are lower. */
const LARGE = 10 ** 12

/**
 * A storage whose calls all go through `spend_by_slices`: an account gets there by a reservation under a large cap, whatever its
 * outcome.
 */
function queued(storage: SpendStorage): SpendStorage {
  const large = { counter: 'large', unit: 'cents', amount: 0, cap: LARGE, expiresAt: null } as const
  const open = (account: string): Promise<unknown> =>
    storage.reserve(account, null, [large], 0).catch(() => undefined)
  return {
    ...storage,
    reserve: (account, ...rest) => open(account).then(() => storage.reserve(account, ...rest)),
    settle: (account, ...rest) => open(account).then(() => storage.settle(account, ...rest)),
    release: (account, ...rest) => open(account).then(() => storage.release(account, ...rest)),
  }
}

spendStorageContract(runner, 'Postgres, one host with slices', async () => {
  const { connections, close } = await openKeptPostgres(1, migrateSpends, 'all')
  return { connections: connections.map(db => postgresSpends(db, { escrow: { leastCap: 1 } })), close }
})

spendStorageContract(runner, 'Postgres, small caps of accounts with slices', async () => {
  const { connections, close } = await openKeptPostgres(4, migrateSpends, 'all')
  const storages = connections.map(db => queued(postgresSpends(db, { escrow: { leastCap: LARGE } })))
  return { connections: storages, close }
})

spendStorageFaults(runner, 'Postgres, accounts with slices', async () => {
  const { healthy, cutBefore, cutAfter, malformed, close } = await faultyPostgres(migrateSpends, 'all')
  // The reservation that opens the queue does not use the connection, which would be cut.
  const open = (db: SqlClient): SpendStorage => {
    const query: SqlClient['query'] = async (text, values) => {
      if (String(values?.[3]).includes(String(LARGE))) throw new Error('not sent')
      return db.query(text, values)
    }
    return queued(postgresSpends({ ...db, query }, { escrow: { leastCap: LARGE } }))
  }
  return {
    healthy: open(healthy),
    cutBefore: open(cutBefore),
    cutAfter: open(cutAfter),
    malformed: open(malformed),
    close,
  }
})

t.test('never exceeds a cap, and loses nothing, whatever hosts crash, freeze and wake', async t => {
  const { connections, close } = await openKeptPostgres(1, migrateSpends, 'all')
  t.teardown(close)
  const db = connections[0] as SqlClient
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), steps => runSteps(db, steps)),
    { numRuns: randomCases(20) },
  )
})

const day = { counter: 'day', unit: 'cents', cap: 1000, expiresAt: null } as const
const slices = { escrow: { leastCap: 1, sharePercent: 50, leaseSeconds: 10 } } as const

t.test(
  'keeps 400 simultaneous reservations of 4 hosts on separate connections at or below the cap',
  async t => {
    const { connections, close } = await openKeptPostgres(4, migrateSpends, 'all')
    t.teardown(close)
    const hosts = connections.map(db => postgresSpends(db, { escrow: { leastCap: 1 } }))
    const all = await race(400, index =>
      hosts[index % 4]!.reserve('a', `h${index}`, [{ ...day, amount: 10 }], 0),
    )
    const held = all.filter(({ outcome }) => outcome === 'held').length
    t.ok(held <= 100 && held > 80, `${held} of 100 were held`)
    const ended = await race(400, index => hosts[(index + 1) % 4]!.settle('a', `h${index}`, 4))
    t.equal(ended.filter(outcome => outcome === 'settled').length, held)
    while ((await hosts[0]!.collect(100, 10_000)) > 0);
    t.same(await postgresSpends(connections[0]!).usage('a', ['day']), [{ used: 4 * held, held: 0 }])
  },
)

t.test('denies early while another host has a slice, and no longer when its lease is over', async t => {
  const { connections, close } = await openKeptPostgres(2, migrateSpends, 'all')
  t.teardown(close)
  const [one, other] = connections.map(db => postgresSpends(db, slices)) as [SpendStorage, SpendStorage]
  t.same(await one.reserve('a', '1', [{ ...day, amount: 100 }], 0), { outcome: 'held', used: [100] })
  t.same(await other.usage('a', ['day']), [{ used: 550, held: 550 }])
  t.same(await other.reserve('a', '2', [{ ...day, amount: 500 }], 9999), {
    outcome: 'over',
    index: 0,
    used: 550,
  })
  t.same(await other.reserve('a', '2', [{ ...day, amount: 500 }], 10_000), { outcome: 'held', used: [600] })
  t.same(
    await one.reserve('a', '3', [{ ...day, amount: 200 }], 10_000),
    { outcome: 'held', used: [1000] },
    'wakes',
  )
})

t.test('ends a slice whose lease is over for an amount that is all that its own slice has', async t => {
  const { connections, close } = await openKeptPostgres(2, migrateSpends, 'all')
  t.teardown(close)
  const [one, other] = connections.map(db => postgresSpends(db, slices)) as [SpendStorage, SpendStorage]
  await one.reserve('a', '1', [{ ...day, amount: 100 }], 0)
  const smaller = [{ ...day, cap: 500, amount: 0 }]
  t.match(await other.reserve('a', '2', smaller, 9999), { outcome: 'over', used: 550 })
  t.same(await other.reserve('a', '2', smaller, 10_000), { outcome: 'held', used: [100] })
})

t.test('ends a slice with its window', async t => {
  const { connections, close } = await openKeptPostgres(1, migrateSpends, 'all')
  t.teardown(close)
  const storage = postgresSpends(connections[0]!, slices)
  await storage.reserve('a', '1', [{ ...day, amount: 100, expiresAt: 5000 }], 0)
  t.equal(await storage.collect(10, 4999), 0)
  t.equal(await storage.collect(10, 5000), 1)
  t.same(await postgresSpends(connections[0]!).usage('a', ['day']), [{ used: 100, held: 100 }])
})

/** The storage as hosts without slices see it: what they take, other hosts cannot. */
const usedOf = async (db: SqlClient, account = 'a'): Promise<unknown> =>
  (await postgresSpends(db).usage(account, ['day']))[0]

t.test('gives back what a slice has too much under a smaller cap, and keeps what fits', async t => {
  const { connections, close } = await openKeptPostgres(1, migrateSpends, 'all')
  t.teardown(close)
  const db = connections[0] as SqlClient
  const storage = postgresSpends(db, slices)
  const reserve = (id: string, cap: number) => storage.reserve('a', id, [{ ...day, cap, amount: 10 }], 0)
  await storage.reserve('a', '1', [{ ...day, amount: 100 }], 0)
  t.same(await usedOf(db), { used: 550, held: 550 }, '100, and half of the remaining 900')
  t.same(await reserve('2', 550), { outcome: 'held', used: [110] })
  t.same(await usedOf(db), { used: 550, held: 550 }, '450 are all that remains under 550')
  t.same(await reserve('3', 549), { outcome: 'held', used: [120] })
  t.same(await usedOf(db), { used: 334, held: 334 }, '110, 10, and half of the remaining 429')
})

t.test('counts against a smaller cap what the account has used, not what others have', async t => {
  const { connections, close } = await openKeptPostgres(1, migrateSpends, 'all')
  t.teardown(close)
  const db = connections[0] as SqlClient
  const storage = postgresSpends(db, slices)
  for (const account of ['b', 'c', 'a'])
    await storage.reserve(account, account, [{ ...day, amount: account === 'a' ? 600 : 1 }], 0)
  await storage.reserve('a', 'other', [{ ...day, counter: 'month', amount: 1 }], 0)
  for (const [amount, outcome] of [
    [1, { outcome: 'over', index: 0, used: 600 }],
    [0, { outcome: 'held', used: [600] }],
  ] as const)
    t.same(await storage.reserve('a', `under ${amount}`, [{ ...day, cap: 600, amount }], 0), outcome)
})

t.test('ends no slice of another host while the cap suffices', async t => {
  for (const [own, amount, used] of [
    [undefined, 450, 1000],
    [100, 300, 950],
  ] as const) {
    const { connections, close } = await openKeptPostgres(2, migrateSpends, 'all')
    const [one, other] = connections.map(db => postgresSpends(db, slices)) as [SpendStorage, SpendStorage]
    await one.reserve('a', '1', [{ ...day, amount: 100 }], 0)
    if (own !== undefined) await other.reserve('a', '2', [{ ...day, amount: own }], 0)
    const late = await other.reserve('a', '3', [{ ...day, amount }], 20_000)
    t.same(
      late,
      { outcome: 'held', used: [used] },
      'the slice of the other host is used, although its lease is over',
    )
    await close()
  }
})

t.test('says what is used with the calls before in the same statement', async t => {
  const { connections, close } = await openKeptPostgres(1, migrateSpends, 'all')
  t.teardown(close)
  const storage = postgresSpends(connections[0] as SqlClient, slices)
  await storage.reserve('a', null, [{ ...day, amount: 0 }], 0)
  const both = await Promise.all(['1', '2'].map(id => storage.reserve('a', id, [{ ...day, amount: 600 }], 0)))
  t.same(
    both.toSorted((a, b) => (a.outcome < b.outcome ? -1 : 1)),
    [
      { outcome: 'held', used: [600] },
      { outcome: 'over', index: 0, used: 600 },
    ],
  )
})

t.test('a hold that ends gives its money to the slice of the host', async t => {
  const { connections, close } = await openKeptPostgres(1, migrateSpends, 'all')
  t.teardown(close)
  const db = connections[0] as SqlClient
  const storage = postgresSpends(db, slices)
  await storage.reserve('a', '1', [{ ...day, amount: 100 }], 0)
  t.equal(await storage.release('a', '1'), true)
  t.same(await usedOf(db), { used: 550, held: 550 })
})

t.test('sends one statement of an account at a time, with the holds in the order of their names', async t => {
  const { connections, close } = await openKeptPostgres(1, migrateSpends, 'all')
  t.teardown(close)
  const db = connections[0] as SqlClient
  let [running, most] = [0, 0]
  const sent: string[][] = []
  const query: SqlClient['query'] = async (text, values) => {
    running += 1
    most = Math.max(most, running)
    sent.push((JSON.parse(String(values?.[3])) as [string][]).map(([hold]) => hold))
    return db.query(text, values).finally(() => (running -= 1))
  }
  const storage = postgresSpends({ ...db, query }, slices)
  const reserve = (id: number) => storage.reserve('a', `hold ${id}`, [{ ...day, amount: 1 }], 0)
  await Promise.all(
    [0, 1, 2].map(async turn => {
      for (let wait = 0; wait < turn; wait++) await new Promise(resolve => setImmediate(resolve))
      await Promise.all(Array.from({ length: 12 }, (_, index) => reserve(turn * 12 + index)))
    }),
  )
  t.equal(most, 1)
  t.ok(sent.some(holds => holds.length > 2))
  for (const holds of sent) t.same(holds, holds.toSorted())
})

t.test(
  'holds an amount once for two calls of one statement with the same id, whatever they add up to',
  async t => {
    const { connections, close } = await openKeptPostgres(1, migrateSpends, 'all')
    t.teardown(close)
    const storage = postgresSpends(connections[0] as SqlClient, slices)
    const whole = [{ ...day, amount: day.cap }]
    // Those that are made while the first is under way share a statement.
    const outcomes = await Promise.all([
      storage.reserve('a', null, [{ ...day, amount: 0 }], 0),
      storage.reserve('a', 'same', whole, 0),
      storage.reserve('a', 'same', whole, 0),
    ])
    t.same(
      outcomes.map(({ outcome }) => outcome),
      ['held', 'held', 'held'],
    )
    const other = await storage.reserve('a', 'other', [{ ...day, amount: 1 }], 0)
    t.match(other, { outcome: 'over', used: day.cap })
  },
)

t.test('keeps a counter whose window is over while it has a slice', async t => {
  const { connections, close } = await openKeptPostgres(2, migrateSpends, 'all')
  t.teardown(close)
  const [db, other] = connections as [SqlClient, SqlClient]
  const storage = postgresSpends(db, slices)
  await storage.reserve('a', null, [{ ...day, amount: 100, expiresAt: 5000 }], 0)
  const late = 5000 + 3_600_000
  await other.transaction(async tx => {
    await tx.query('select 1 from gw_spend_slices for update')
    t.equal(await storage.collect(10, late), 0, 'a statement uses the slice')
  })
  t.equal(await storage.collect(10, late), 2)
})

t.test('ends a slice whose counter is missing', async t => {
  const { connections, close } = await openKeptPostgres(1, migrateSpends, 'all')
  t.teardown(close)
  const db = connections[0] as SqlClient
  const storage = postgresSpends(db, slices)
  await storage.reserve(
    'a',
    null,
    [
      { ...day, amount: 1 },
      { ...day, counter: 'month', amount: 1 },
    ],
    0,
  )
  await storage.reserve('b', null, [{ ...day, amount: 1 }], 0)
  await db.query('delete from gw_spend_counters where account = $1 and counter = $2', [
    keyDigest('a'),
    keyDigest('day'),
  ])
  t.equal(await storage.collect(10, 10_000), 3)
})

t.test('refuses calls within the scope of a transaction of its own database', async t => {
  const { connections, close } = await openKeptPostgres(1, migrateSpends, 'all')
  t.teardown(close)
  const db = connections[0] as SqlClient
  const storage = postgresSpends(db, slices)
  await storage.reserve('a', '1', [{ ...day, amount: 1 }], 0)
  const refused = { name: 'Fault', code: 'ERR_OUTSIDE_TRANSACTION' }
  await withinTransactionScope(db, async () => {
    await t.rejects(storage.reserve('a', '2', [{ ...day, amount: 1 }], 0), refused)
    await t.rejects(storage.settle('a', '1', 1), refused)
    await t.rejects(storage.release('a', '1'), refused)
  })
})

t.test('refuses slices in an open transaction and on other stores', async t => {
  t.throws(() => postgresSpends({ dialect: 'postgres', query: async () => ({ rows: [] }) }, slices), {
    name: 'TypeError',
    message: /open transaction/,
  })
  t.throws(() => memorySpends(slices as object), { name: 'TypeError', message: /unknown option "escrow"/ })
})
