// The records of runs that begin and end in one open transaction.
import {
  migrateIdempotency,
  postgresIdempotency,
  postgresTransactionalIdempotency,
} from '@gatewright/idempotency-store/postgres'
import type { IdempotencyStorage } from '@gatewright/idempotency-store'
import type { BeginResult, Ending } from '#packages/idempotency-store/dist/storage/port.js'
import { GRACE_MS } from '@gatewright/kernel'
import { rows, type SqlClient, type SqlTransaction } from '@gatewright/kernel/sql'
import t, { type Test } from 'tap'
import { ON_CITUS } from '../../harness/databases/citus.ts'
import { openPostgres } from '../../harness/stores.ts'

const done = (response: string, expiresAt = 9000): Ending => ({ state: 'done', response, expiresAt })

async function setUp(t: Test) {
  const { connections, close } = await openPostgres(2, migrateIdempotency)
  t.teardown(close)
  const [db, other] = connections as [SqlClient, SqlClient]
  /** Runs work on the storage of an open transaction. */
  const inTransaction = <T>(
    work: (storage: ReturnType<typeof postgresTransactionalIdempotency>, tx: SqlTransaction) => Promise<T>,
  ): Promise<T> => db.transaction(tx => work(postgresTransactionalIdempotency(tx), tx))
  return { db, other, inTransaction, elsewhere: postgresIdempotency(other) }
}

t.test('begins each key once in a transaction, with any storage over it', async t => {
  const { inTransaction } = await setUp(t)
  await inTransaction(async (storage, tx) => {
    t.same(await storage.begin('a', 'f', 2000, 1000), { state: 'started', fence: 1000 })
    for (const again of [storage, postgresTransactionalIdempotency(tx)])
      t.same(await again.begin('a', 'f', 2000, 1000), { state: 'running' })
    t.same(await storage.begin('b', 'f', 2000, 1000), { state: 'started', fence: 1000 })
    t.equal(await storage.end('b', 1000, done('"b"'), 1000), true)
    t.same(await storage.begin('b', 'f', 2000, 1000), done('"b"'))
    t.equal(await storage.end('a', 1000, done('"a"'), 1000), true)
    t.same(await storage.begin('a', 'f', 2000, 1000), done('"a"'))
  })
})

t.test('ends the run that has the key and the fence, and no other', async t => {
  const { inTransaction } = await setUp(t)
  await inTransaction(async storage => {
    for (const key of ['a', 'b']) await storage.begin(key, 'f', 2000, 1000)
    t.equal(await storage.end('a', 1001, done('{}'), 1000), false, 'another fence')
    t.equal(await storage.end('c', 1000, done('{}'), 1000), false, 'another key')
    t.equal(await storage.end('b', 1000, done('"b"'), 1000), true)
    t.equal(await storage.end('b', 1000, done('"b"'), 1000), true, 'repeated')
    t.equal(await storage.end('b', 1000, done('"other"'), 1000), false, 'ended otherwise')
    t.same(await storage.begin('a', 'f', 2000, 1000), { state: 'running' })
    t.same(await storage.begin('b', 'f', 2000, 1000), done('"b"'))
  })
})

t.test('replays until 1 ms before the retention ends, and then begins with a larger fence', async t => {
  const { inTransaction, elsewhere } = await setUp(t)
  /** Begins in a transaction that is rolled back. */
  const begun = async (...given: Parameters<IdempotencyStorage['begin']>): Promise<BeginResult> => {
    let result: BeginResult | undefined
    await inTransaction(async storage => {
      result = await storage.begin(...given)
      throw new Error('roll back')
    }).catch(() => {})
    return result as BeginResult
  }
  const begin = (now: number) => begun('a', 'f', now + 1000, now)
  await elsewhere.begin('a', 'f', 2000, 1000)
  t.same(await begin(1999), { state: 'running' })
  t.same(await begin(2000), { state: 'lost', fence: 1000 })
  await elsewhere.end('a', 1000, done('{}', 5000), 1000)
  t.same(await begin(4999), done('{}', 5000))
  t.same(await begin(5000), { state: 'started', fence: 5000 })
  await elsewhere.begin('b', 'f', 2000, 1000)
  await elsewhere.end('b', 1000, { state: 'free', expiresAt: 5000 }, 1000)
  for (const [now, fence] of [
    [900, 1001],
    [1000, 1001],
    [1001, 1001],
    [1002, 1002],
  ] as const) {
    t.same(await begun('b', 'g', now + 1000, now), { state: 'started', fence })
  }
})

t.test('commits with the last statement, where the client can', async t => {
  const { db, inTransaction, elsewhere } = await setUp(t)
  await inTransaction(async storage => {
    await storage.begin('a', 'f', 2000, 1000)
    t.equal(await storage.endLast?.('a', 1000, done('{}'), 1000), true)
    t.same(await elsewhere.begin('a', 'f', 2000, 1000), done('{}'))
  })
  await db.transaction(async tx => {
    const storage = postgresTransactionalIdempotency({
      dialect: 'postgres',
      query: (text, values) => tx.query(text, values),
    })
    t.notOk('endLast' in storage, 'the client cannot')
  })
})

t.test('ends runs that began in another transaction, and collects expired records', async t => {
  const { inTransaction, elsewhere } = await setUp(t)
  for (const key of ['a', 'b']) await elsewhere.begin(key, 'f', 2000, 1000)
  await elsewhere.end('b', 1000, done('{}', 2000), 1000)
  await inTransaction(async storage => {
    t.equal(await storage.end('a', 1000, done('{}'), 1000), true)
    t.equal(await storage.collect(9, 1999 + GRACE_MS), 0)
    t.equal(await storage.collect(9, 2000 + GRACE_MS), 1)
  })
  t.same(await elsewhere.begin('a', 'f', 2000, 1000), done('{}'))
})

t.test(
  'does not wait for another transaction that runs the key, and keeps the limit of the connection',
  async t => {
    const { db, other } = await setUp(t)
    await rows(other, "set lock_timeout = '7s'")
    await db.transaction(async tx => {
      await postgresTransactionalIdempotency(tx).begin('a', 'f', 2000, 1000)
      const begun = other.transaction(async waiting => {
        const { state } = await postgresTransactionalIdempotency(waiting).begin('a', 'f', 2000, 1000)
        throw new Error(state)
      })
      await t.rejects(begun, { message: 'running' })
    })
    await other.transaction(async tx => {
      await postgresTransactionalIdempotency(tx).begin('b', 'f', 2000, 1000)
      t.same(await rows(tx, 'show lock_timeout'), [{ lock_timeout: '7s' }])
    })
  },
)

// Citus keeps these counts on the machine that has the row.
if (!ON_CITUS)
  t.test('a run that ends changes no index', async t => {
    const { db } = await setUp(t)
    await db.transaction(async tx => {
      const storage = postgresTransactionalIdempotency(tx)
      await storage.begin('a', 'f', 9000, 1000)
      await storage.end('a', 1000, done('{}'), 1000)
      const [row] = await rows(
        tx,
        "select pg_stat_get_xact_tuples_hot_updated('gw_idempotency'::regclass)::int as hot",
      )
      t.same(row, { hot: 1 })
    })
  })

t.test('denies unknown options', async t => {
  const tx = { dialect: 'postgres' as const, query: async () => ({ rows: [] }) }
  t.throws(() => postgresTransactionalIdempotency(tx, { prefx: 'a_' } as never), {
    name: 'TypeError',
    message: /prefx/,
  })
})
