import { migrateIdempotency, mariadbIdempotency } from '@gatewright/idempotency-store/mariadb'
import { idempotencyStorageContract, idempotencyStorageFaults } from '@gatewright/idempotency-store/testing'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import { migrate, rows, type SqlClient, type SqlQueries, type SqlValue } from '@gatewright/kernel/sql'
import { faultProxy, type FaultProxy, race, sqlClientContract } from '@gatewright/kernel/testing'
import { fromMysql2 } from '@gatewright/kernel/orms'
import { migrateSpends, mariadbSpends } from '@gatewright/scope-guard/mariadb'
import { spendStorageContract, spendStorageFaults } from '@gatewright/scope-guard/testing'
import { createPool, type Pool, type PoolConnection } from 'mysql2/promise'
import t, { type Test } from 'tap'
import { openMariaDb, startMariaDb } from './mariadb.ts'
import { faultyStores } from '../../../harness/databases/faulty.ts'
import { runner } from '../../../harness/runner.ts'
import { checkHistories } from '../../../idempotency-store/storage/check-histories.ts'
import { response, write } from '../../../idempotency-store/support.ts'

const server = await startMariaDb()
t.teardown(server.stop)

sqlClientContract(runner, 'MariaDB', () => openMariaDb(server.url, 2, 2))

idempotencyStorageContract(runner, 'MariaDB', async () => {
  const { connections, close } = await openMariaDb(server.url, 4, 1, migrateIdempotency)
  return { connections: connections.map(db => mariadbIdempotency(db)), close }
})

spendStorageContract(runner, 'MariaDB', async () => {
  const { connections, close } = await openMariaDb(server.url, 4, 1, migrateSpends)
  return { connections: connections.map(db => mariadbSpends(db)), close }
})

type Client = ReturnType<typeof fromMysql2<PoolConnection>>

t.test('records of simultaneous calls over 4 connections are linearizable', async t => {
  const { connections, close } = await openMariaDb(server.url, 4, 1, migrateIdempotency)
  t.teardown(close)
  await checkHistories(
    connections.map(db => mariadbIdempotency(db)),
    60,
  )
  t.pass('60 random histories')
})

/** Cuts a connection behind a proxy when it is next used as a test wants it. */
type Arm = (proxy: FaultProxy, client: Client, pool: Pool) => Promise<void>

/** A client with one connection through a proxy. */
async function openProxied(url: string, arm: Arm) {
  const proxy = await faultProxy(url)
  const pool = createPool({ uri: proxy.url, connectionLimit: 1 })
  const client = fromMysql2(pool)
  // Connects now, while the proxy is still harmless.
  await client.query('select 1')
  await arm(proxy, client, pool)
  return {
    client,
    close: async () => {
      await pool.end()
      await proxy.close()
    },
  }
}

/** Clients over connections that fail, and one whose replies have other values. */
async function openFaulty(migrate: typeof migrateIdempotency, cutAfter: Arm) {
  const database = await openMariaDb(server.url, 1, 2, db => migrate(db))
  const healthy = database.connections[0] as Client
  const before = await openProxied(database.url, async proxy => {
    proxy.harm = 'cutBefore'
  })
  const after = await openProxied(database.url, cutAfter)
  const malformed: Client = {
    ...garbled(healthy),
    transaction: work => healthy.transaction(tx => work(garbled(tx))),
  }
  return {
    healthy,
    cutBefore: before.client,
    cutAfter: after.client,
    malformed,
    close: async () => {
      await before.close()
      await after.close()
      await database.close()
    },
  }
}

/** Gives every column of a reply another type, and leaves its counts out. */
function garbled<Queries extends SqlQueries>(db: Queries): Queries {
  return {
    ...db,
    query: async (text: string, values?: readonly SqlValue[]) => {
      const { rows } = await db.query(text, values)
      return { rows: rows.map(row => Object.fromEntries(Object.keys(row).map(name => [name, 0.5]))) }
    },
  }
}

/** Prepares the statements on the connection, so that the reply which is cut is that of the statement. */
const afterStatement: Arm = async (proxy, client) => {
  const storage = mariadbIdempotency(client)
  await storage.begin('warm', 'f', 2000, 1000)
  await storage.extend('warm', 1000, 2000, 1000)
  await storage.takeOver('warm', 1000, 4000, 3000)
  await storage.end('warm', 3000, { state: 'free', expiresAt: 5000 }, 3000)
  proxy.harm = 'cutAfter'
}

const afterCommit: Arm = async (proxy, _client, pool) => {
  const getConnection = pool.getConnection.bind(pool)
  pool.getConnection = async () => {
    const connection = await getConnection()
    const query: unknown = connection.query
    const watched = (statement: { sql: string }): never => {
      if (statement.sql === 'commit') proxy.harm = 'cutAfter'
      return Reflect.apply(query as () => never, connection, [statement]) as never
    }
    Object.assign(connection, { query: watched })
    return connection
  }
}

idempotencyStorageFaults(runner, 'MariaDB', () =>
  faultyStores(openFaulty(migrateIdempotency, afterStatement), db => mariadbIdempotency(db)),
)

spendStorageFaults(runner, 'MariaDB', () =>
  faultyStores(openFaulty(migrateSpends, afterCommit), db => mariadbSpends(db)),
)

/** Hosts of one database with a table `payments` of the team, whose writes spend. */
async function openHosts(t: Test, hosts: number, size: number) {
  const { connections, pools, close } = await openMariaDb(server.url, hosts, size, async db => {
    await migrateIdempotency(db)
    await migrateSpends(db)
    await db.query('create table payments (id varchar(64) primary key) engine = InnoDB')
  })
  t.teardown(close)
  const [db] = connections as [Client]
  const runs = connections.map(client =>
    createTransactionalIdempotency({ db: client, storage: mariadbIdempotency }),
  )
  return {
    db,
    pools,
    runs,
    /** What is committed: how many payments, and how much is spent. */
    async committed() {
      const payments = await rows(db, 'select id from payments')
      const [usage] = await mariadbSpends(db).usage(ACCOUNT, ['day'])
      return { payments: payments.length, spent: usage?.used }
    },
    /** A handler of a host that spends and writes a payment. */
    handler:
      (host: number): PayHandler =>
      async (tx, { effectId }) => {
        const client = connections[host] as Client
        const reserved = await mariadbSpends(client.queries(tx)).reserve(ACCOUNT, effectId, [SPEND], 0)
        await tx.query('insert into payments (id) values (?)', [effectId])
        return response(reserved.outcome === 'held' ? 201 : 402)
      },
  }
}

type PayHandler = (
  tx: PoolConnection,
  run: { readonly effectId: string },
) => Promise<ReturnType<typeof response>>

const ACCOUNT = 'acc_1'
const SPEND = { counter: 'day', unit: 'cents', cap: 10, amount: 6, expiresAt: null } as const

t.test('runs one of 30 simultaneous duplicates on 3 hosts with 10 connections each', async t => {
  const { runs, handler, committed } = await openHosts(t, 3, 10)
  const results = await race(30, index => runs[index % 3]!.run(write(), handler(index % 3)))
  t.equal(results.filter(result => result.ok && !result.value.replayed).length, 1)
  t.equal(results.filter(result => result.ok && result.value.replayed).length, 29)
  t.same(await committed(), { payments: 1, spent: 6 })
})

t.test('commits the record, the spend and the row of the team together, or none of them', async t => {
  const { runs, handler, committed } = await openHosts(t, 1, 2)
  const { run } = runs[0]!
  const thrown = run(write(), async (tx, given) => {
    await handler(0)(tx, given)
    throw new Error('no such plan')
  })
  await t.rejects(thrown, { message: 'no such plan' })
  t.same(await committed(), { payments: 0, spent: 0 })
  t.match(await run(write(), handler(0)), { ok: true, value: { replayed: false, response: response(201) } })
  t.match(await run(write(), handler(0)), { ok: true, value: { replayed: true, response: response(201) } })
  t.same(await committed(), { payments: 1, spent: 6 })
  const over = await run(write({ key: 'over-the-cap' }), handler(0))
  t.match(over, { ok: true, value: { response: response(402) } })
  t.same(await committed(), { payments: 1, spent: 6 })
})

t.test(
  'commits nothing of a handler that ends the transaction or swallows a deadlock, and says so',
  async t => {
    const { runs, db, committed } = await openHosts(t, 1, 4)
    const { run } = runs[0]!
    const insert = 'insert into payments (id) values (?)'
    await db.query("insert into payments (id) values ('a'), ('b')")
    const lock = 'update payments set id = id where id = ?'
    for (const key of ['deadlock-0001', 'deadlock-0002']) {
      let both = 0
      let bothReady = (): void => {}
      const ready = new Promise<void>(resolve => {
        bothReady = resolve
      })
      /** Locks two rows, as another transaction does in the other order. Returns whether it was the victim. */
      const meet = async (tx: PoolConnection, first: string, second: string): Promise<boolean> => {
        await tx.query(lock, [first])
        both += 1
        if (both === 2) bothReady()
        await ready
        return tx.query(lock, [second]).then(
          () => false,
          () => true,
        )
      }
      const other = db.transaction(async tx => meet(db.ormTransaction(tx), 'b', 'a'))
      let victim: boolean | undefined
      const first = run(write({ key }), async tx => {
        victim = await meet(tx, 'a', 'b')
        await tx.query(insert, [key])
        return response(201)
      })
      const [outcome] = await Promise.allSettled([first, other])
      t.equal(outcome.status, victim ? 'rejected' : 'fulfilled')
      const kept = await rows(db, 'select id from payments where id = $1', [key])
      t.equal(kept.length, victim ? 0 : 1)
    }
    const before = await committed()
    for (const ending of ['commit', 'rollback', 'create table others (id int)']) {
      const ended = run(write({ key: `ends-it-${ending.slice(0, 6)}` }), async tx => {
        await tx.query(ending)
        await tx.query(insert, [ending])
        return response(201)
      })
      const isSuccess = await ended.then(
        ({ ok }) => ok,
        () => false,
      )
      t.equal(isSuccess, false, ending)
    }
    t.same(await committed(), before)
  },
)

t.test('rejects a use of the pool in a handler, by name', async t => {
  const { runs, pools } = await openHosts(t, 1, 2)
  const outside = runs[0]!.run(write(), async () => {
    await pools[0]!.query('insert into payments (id) values (1)')
    return response(201)
  })
  await t.rejects(outside, {
    code: 'ERR_OUTSIDE_TRANSACTION',
    message: /^the root client of fromMysql2 \(query\)/,
  })
})

t.test('runs a version of tables again that was interrupted at any statement', async t => {
  const ddl = `-- version 1
create table {prefix}one (id {id} primary key) {reference};

create table {prefix}two (id {id} primary key) {reference};

create index {prefix}two_id on {prefix}two (id) where id <> '';

alter table {prefix}one add column body text;
`
  for (let at = 1; at <= 4; at++) {
    const { connections, close } = await openMariaDb(server.url, 1, 2)
    t.teardown(close)
    const [db] = connections as [Client]
    let statement = 0
    const dying: SqlClient = {
      ...db,
      transaction: work =>
        db.transaction(tx =>
          work({
            ...tx,
            query: async (text, values) => {
              if (/gw_(one|two)/.test(text) && !text.startsWith('select') && ++statement === at)
                throw new Error('killed')
              return tx.query(text, values)
            },
          }),
        ),
    }
    await t.rejects(migrate(dying, { namespace: 'app', ddl }), /./)
    t.equal(statement, at)
    await migrate(db, { namespace: 'app', ddl })
    await rows(db, "insert into gw_one (id, body) values ('a', 'text')")
    await rows(db, "insert into gw_two (id) values ('a')")
    await migrate(db, { namespace: 'app', ddl })
  }
})

t.test('tells ids and texts apart by their bytes, also by case, accents and spaces at the end', async t => {
  const { connections, close } = await openMariaDb(server.url, 1, 1)
  t.teardown(close)
  const [db] = connections as [Client]
  const ddl =
    '-- version 1\ncreate table {prefix}texts (id {id} primary key, body text not null) {reference};\n'
  await migrate(db, { namespace: 'app', ddl })
  const texts = ['a', 'a ', 'A', 'á']
  for (const text of texts) await rows(db, 'insert into gw_texts (id, body) values ($1, $2)', [text, text])
  for (const text of texts)
    for (const column of ['id', 'body'])
      t.same(await rows(db, `select id, body from gw_texts where ${column} = $1`, [text]), [
        { id: text, body: text },
      ])
})

t.test('rejects tables that nothing has recorded, and changes nothing', async t => {
  const { connections, close } = await openMariaDb(server.url, 1, 2)
  t.teardown(close)
  const [db] = connections as [Client]
  await db.query('create table gw_spend_holds (id int)')
  const error: unknown = await migrateSpends(db).catch((reason: unknown) => reason)
  t.match((error as Error).cause, { message: /has a table gw_spend_holds without a recorded version/ })
})
