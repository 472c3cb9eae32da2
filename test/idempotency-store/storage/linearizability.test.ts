import type { IdempotencyStorage } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { migrateIdempotency, postgresIdempotency } from '@gatewright/idempotency-store/postgres'
import { redisIdempotency } from '@gatewright/idempotency-store/redis'
import { migrateIdempotency as migrateSqlite, sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { openPostgres, openRedis, openSqlite } from '../../harness/stores.ts'
import { checkHistories, history } from './check-histories.ts'
import { openHosts } from './hosts.ts'
import { isLinearizable, NOW, record, type Event } from './history.ts'

t.test('is linearizable in memory', async t => {
  await checkHistories([memoryIdempotency()], 100)
  t.pass('100 random histories')
})

const STORES = {
  Redis: { open: async () => storagesOf(await openRedis(4), redisIdempotency), histories: 100 },
  Postgres: {
    open: async () => storagesOf(await openPostgres(4, migrateIdempotency), postgresIdempotency),
    histories: 60,
  },
  SQLite: {
    open: async () => storagesOf(await openSqlite(4, migrateSqlite), sqliteIdempotency),
    histories: 100,
  },
} as const

function storagesOf<C>(
  { connections, close }: { readonly connections: readonly C[]; close(): Promise<void> },
  storage: (connection: C) => IdempotencyStorage,
) {
  return { storages: connections.map(connection => storage(connection)), close }
}

for (const [name, { open, histories }] of Object.entries(STORES))
  t.test(`is linearizable on ${name} over 4 connections`, async t => {
    const { storages, close } = await open()
    t.teardown(close)
    await checkHistories(storages, histories)
    t.pass(`${histories} random histories`)
  })

t.test('is linearizable on two hosts of Postgres whose calls for 8 keys share statements', async t => {
  const hosts = await openHosts(t, 2)
  const histories = fc.array(history, { minLength: 8, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(histories, async each => {
      const storages = hosts.map(({ storage }) => storage)
      const seen = await Promise.all(each.map(lanes => record(lanes, storages, randomUUID())))
      for (const events of seen) {
        if (!isLinearizable(events)) throw new Error(`no order explains ${JSON.stringify(events, null, 1)}`)
      }
    }),
    { numRuns: randomCases(15), endOnFailure: true },
  )
  t.ok(Math.max(...hosts.flatMap(({ batchSizes }) => batchSizes)) > 4, 'calls shared statements')
  t.same(
    hosts.flatMap(({ failedStates }) => failedStates),
    [],
  )
})

const yieldOnce = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

t.test('the check catches an adapter that reads and then writes', async t => {
  const correct = memoryIdempotency()
  const begun = new Set<string>()
  const broken: IdempotencyStorage = {
    ...correct,
    async begin(key, ...rest) {
      const isNew = !begun.has(key)
      await yieldOnce()
      if (!isNew) return correct.begin(key, ...rest)
      begun.add(key)
      await correct.begin(key, ...rest)
      return { state: 'started', fence: rest[2] }
    },
  }
  await t.rejects(checkHistories([broken], 200), /Property failed after/)
})

t.test('the check catches an adapter that reads from a lagging replica', async t => {
  const correct = memoryIdempotency()
  const stale = new Map<string, Awaited<ReturnType<IdempotencyStorage['begin']>>>()
  const lagging: IdempotencyStorage = {
    ...correct,
    async begin(key, ...rest) {
      const last = stale.get(key)
      const now = await correct.begin(key, ...rest)
      if (now.state !== 'started') stale.set(key, now)
      return last && now.state === 'done' ? last : now
    },
  }
  await t.rejects(checkHistories([lagging], 500), /Property failed after/)
})

t.test('the check accepts either order of overlapping calls, and only the real order of others', t => {
  const at = (invoked: number, returned: number, state: 'started' | 'running'): Event => ({
    call: { verb: 'begin', fingerprint: 'a', leaseUntil: NOW + 1, now: NOW },
    invoked,
    returned,
    result: state === 'started' ? { state, fence: NOW } : { state },
  })
  t.equal(isLinearizable([at(0, 3, 'running'), at(1, 2, 'started')]), true)
  t.equal(isLinearizable([at(0, 1, 'running'), at(2, 3, 'started')]), false)
  t.equal(isLinearizable([at(0, 2, 'started'), at(1, 3, 'started')]), false)
  t.end()
})
