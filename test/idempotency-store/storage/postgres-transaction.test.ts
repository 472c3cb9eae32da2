// The records of runs that begin and end in one open transaction.
import {
  migrateIdempotency,
  postgresIdempotency,
  postgresTransactionalIdempotency,
} from '@gatewright/idempotency-store/postgres'
import type { Ending } from '@gatewright/idempotency-store/internal'
import { Fault, GRACE_MS } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import type { SqlRow, SqlTransaction } from '@gatewright/kernel/internal/sql'
import t, { type Test } from 'tap'
import { openPostgres } from '../../harness/stores.ts'

const done = (response: string, expiresAt = 9000): Ending => ({ state: 'done', response, expiresAt })

async function setUp(t: Test) {
  const { connections, close } = await openPostgres(2, migrateIdempotency, 'all')
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
  const begin = (now: number) => inTransaction(storage => storage.begin('a', 'f', now + 1000, now))
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
    t.same(await inTransaction(storage => storage.begin('b', 'g', now + 1000, now)), {
      state: 'started',
      fence,
    })
  }
})

t.test('says without a transaction why a run cannot begin, and keeps the key out of no run', async t => {
  const { other, inTransaction, elsewhere } = await setUp(t)
  const storage = postgresTransactionalIdempotency(other)
  const whyNotNow = (key: string, now = 1000, fingerprint = 'f') => storage.whyNotNow?.(key, fingerprint, now)
  t.equal(await whyNotNow('a'), undefined)
  await inTransaction(async storage => {
    t.same(await storage.begin('a', 'f', 2000, 1000), { state: 'started', fence: 1000 })
    t.same(await whyNotNow('a'), { state: 'running' })
    t.equal(await whyNotNow('b'), undefined)
    t.same(await storage.begin('b', 'f', 2000, 1000), { state: 'started', fence: 1000 }, 'not locked')
    await storage.end('a', 1000, done('{}', 5000), 1000)
  })
  t.same(await whyNotNow('a', 4999), done('{}', 5000))
  t.same(await whyNotNow('a', 4999, 'g'), { state: 'reused' })
  t.equal(await whyNotNow('a', 5000, 'g'), undefined)
  await elsewhere.begin('c', 'f', 2000, 1000)
  t.same(await whyNotNow('c', 1999), { state: 'running' })
  t.same(await whyNotNow('c', 2000), { state: 'lost', fence: 1000 })
  await elsewhere.end('c', 1000, { state: 'free', expiresAt: 5000 }, 1000)
  t.equal(await whyNotNow('c', 1001), undefined)
})

t.test('ends nothing if another run has decided about the key since it began', async t => {
  const { inTransaction, elsewhere } = await setUp(t)
  const decide = async (key: string, now: number): Promise<void> => {
    const begun = await elsewhere.begin(key, 'f', now + 1000, now)
    if (begun.state !== 'started') throw new Error(begun.state)
    await elsewhere.end(key, begun.fence, done('"decided"'), now)
  }
  for (const key of ['new', 'freed']) {
    for (const method of ['end', 'endLast'] as const) {
      const name = `${key} ${method}`
      if (key === 'freed') {
        await elsewhere.begin(name, 'f', 2000, 500)
        await elsewhere.end(name, 500, { state: 'free', expiresAt: 9000 }, 1000)
      }
      let ended: boolean | undefined
      const transaction = inTransaction(async storage => {
        await storage.begin(name, 'f', 2000, 1000)
        await decide(name, 1000)
        ended = await storage[method]?.(name, 1000, done('"late"'), 1000)
        throw new Error('rolled back')
      })
      await t.rejects(transaction, { message: 'rolled back' })
      t.equal(ended, false, name)
      t.same(await elsewhere.begin(name, 'f', 2000, 1000), done('"decided"'))
    }
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

/** A storage of a transaction that replies to each statement with the next of these. */
function replying(...replies: (readonly SqlRow[] | Error)[]) {
  return postgresTransactionalIdempotency({
    dialect: 'postgres',
    query: async () => {
      const reply = replies.shift() ?? []
      if (reply instanceof Error) throw reply
      return { rows: reply }
    },
  })
}

t.test('throws a fault for a reply without a row or without the lock', async t => {
  for (const reply of [[], [{}], [{ got: 't', state: null }]])
    await t.rejects(replying(reply).begin('a', 'f', 2000, 1000), { code: 'ERR_STORE_REPLY' })
})

t.test('rethrows every fault but that of a run which another one has decided', async t => {
  const BEGUN = [{ got: true, state: null, fingerprint: null, fence: null, until: null, response: null }]
  const fault = (code: string, message: string): Fault =>
    new Fault('ERR_STORE_UNAVAILABLE', 'failed', { cause: Object.assign(new Error(message), { code }) })
  const end = async (error: Error): Promise<boolean> => {
    const storage = replying(BEGUN, error)
    await storage.begin('a', 'f', 2000, 1000)
    return storage.end('a', 1000, done('{}'), 1000)
  }
  t.equal(await end(fault('22P02', 'invalid input: "decided by another run: a"')), false)
  for (const error of [
    fault('22P02', 'invalid input: "a"'),
    fault('22021', 'decided by another run: a'),
    new Fault('ERR_STORE_UNAVAILABLE', 'decided by another run'),
  ])
    await t.rejects(end(error), error)
})

t.test('denies unknown options', async t => {
  const tx = { dialect: 'postgres' as const, query: async () => ({ rows: [] }) }
  t.throws(() => postgresTransactionalIdempotency(tx, { prefx: 'a_' } as never), {
    name: 'TypeError',
    message: /prefx/,
  })
})
