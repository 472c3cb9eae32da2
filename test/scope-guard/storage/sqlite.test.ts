import { migrateSpends, sqliteApprovals, sqliteSpends } from '@gatewright/scope-guard/sqlite'
import { approvalStorageContract, spendStorageContract } from '@gatewright/scope-guard/testing'
import t from 'tap'
import { withAwaitedQueries } from '../../harness/databases/awaited-queries.ts'
import { runner } from '../../harness/runner.ts'
import { openSqlite } from '../../harness/stores.ts'

spendStorageContract(runner, 'SQLite', async () => {
  // One connection, as in a host: two in one thread would block each other inside a transaction.
  const { connections, close } = await openSqlite(1, migrateSpends)
  return { connections: connections.map(db => sqliteSpends(db)), close }
})

approvalStorageContract(runner, 'SQLite', async () => {
  const { connections, close } = await openSqlite(1, migrateSpends)
  return { connections: connections.map(db => sqliteApprovals(db)), close }
})

const item = { counter: 'c', unit: 'cents', cap: 10, amount: 6, expiresAt: null } as const

t.test('throws a fault when the database cannot be used', async t => {
  const { connections, close } = await openSqlite(1, async () => {})
  t.teardown(close)
  await t.rejects(sqliteSpends(connections[0]!).reserve('a', 'h', [item], 0), {
    name: 'Fault',
    code: 'ERR_STORE_UNAVAILABLE',
  })
})

t.test('waits for every query before it ends its transaction', async t => {
  const { connections, close } = await openSqlite(1, migrateSpends)
  t.teardown(close)
  const storage = sqliteSpends(withAwaitedQueries(connections[0]!))
  t.match(await storage.reserve('a', 'h', [item, { ...item, counter: 'd' }], 0), { outcome: 'held' })
  t.equal(await storage.settle('a', 'h', 1), 'settled')
  await storage.reserve('a', 'i', [item, { ...item, counter: 'd' }], 0)
  t.equal(await storage.release('a', 'i'), true)
  t.same(await storage.usage('a', ['c', 'd']), [
    { used: 1, held: 0 },
    { used: 1, held: 0 },
  ])
})

t.test("joins the caller's transaction: rolled back with it, committed with it", async t => {
  const { connections, close } = await openSqlite(1, migrateSpends)
  t.teardown(close)
  const db = connections[0]!
  const spend = (commit: boolean): Promise<unknown> =>
    db
      .transaction(async tx => {
        await sqliteSpends(tx).reserve('a', 'h', [item], 0)
        if (!commit) throw new Error('roll back')
      })
      .catch(() => undefined)
  await spend(false)
  t.same(await sqliteSpends(db).usage('a', ['c']), [{ used: 0, held: 0 }])
  await spend(true)
  t.same(await sqliteSpends(db).usage('a', ['c']), [{ used: 6, held: 6 }])
})
