import type { SqlClient } from '@gatewright/kernel/sql'
import { race } from '@gatewright/kernel/testing'
import type { SpendStorage } from '@gatewright/scope-guard'
import { memorySpends } from '@gatewright/scope-guard/memory'
import { migrateSpends, postgresSpends } from '@gatewright/scope-guard/postgres'
import { spendStorageContract, spendStorageFaults } from '@gatewright/scope-guard/testing'
import fc from 'fast-check'
import t from 'tap'
import { faultyPostgres } from '../../harness/faulty.ts'
import { runner } from '../../harness/runner.ts'
import { openPostgres } from '../../harness/stores.ts'
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
  const { connections, close } = await openPostgres(1, migrateSpends, 'all')
  return { connections: connections.map(db => postgresSpends(db, { escrow: { leastCap: 1 } })), close }
})

spendStorageContract(runner, 'Postgres, small caps of accounts with slices', async () => {
  const { connections, close } = await openPostgres(4, migrateSpends, 'all')
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
  const { connections, close } = await openPostgres(1, migrateSpends, 'all')
  t.teardown(close)
  const db = connections[0] as SqlClient
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), steps => runSteps(db, steps)),
    { numRuns: 60 },
  )
})

const day = { counter: 'day', unit: 'cents', cap: 1000, expiresAt: null } as const
const slices = { escrow: { leastCap: 1, sharePercent: 50, leaseSeconds: 10 } } as const

t.test(
  'keeps 400 simultaneous reservations of 4 hosts on separate connections at or below the cap',
  async t => {
    const { connections, close } = await openPostgres(4, migrateSpends, 'all')
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
  const { connections, close } = await openPostgres(2, migrateSpends, 'all')
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

t.test('ends a slice with its window', async t => {
  const { connections, close } = await openPostgres(1, migrateSpends, 'all')
  t.teardown(close)
  const storage = postgresSpends(connections[0]!, slices)
  await storage.reserve('a', '1', [{ ...day, amount: 100, expiresAt: 5000 }], 0)
  t.equal(await storage.collect(10, 4999), 0)
  t.equal(await storage.collect(10, 5000), 1)
  t.same(await postgresSpends(connections[0]!).usage('a', ['day']), [{ used: 100, held: 100 }])
})

t.test('refuses slices in an open transaction and on other stores', async t => {
  t.throws(() => postgresSpends({ dialect: 'postgres', query: async () => ({ rows: [] }) }, slices), {
    name: 'TypeError',
    message: /open transaction/,
  })
  t.throws(() => memorySpends(slices as object), { name: 'TypeError', message: /unknown option "escrow"/ })
})
