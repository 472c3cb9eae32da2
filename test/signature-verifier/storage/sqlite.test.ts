import { migrate, sqliteStorage } from '@gatewright/signature-verifier/sqlite'
import { nonceStorageContract } from '@gatewright/signature-verifier/testing'
import t from 'tap'
import { runner } from '../../harness/runner.ts'
import { openSqlite } from '../../harness/stores.ts'

nonceStorageContract(runner, 'SQLite', async () => {
  const { connections, close } = await openSqlite(2, migrate)
  return { connections: connections.map(db => sqliteStorage(db)), close }
})

t.test('throws a fault when the database cannot be used', async t => {
  const { connections, close } = await openSqlite(1, async () => {})
  t.teardown(close)
  await t.rejects(sqliteStorage(connections[0]!).claim('key', 2000, 1000), {
    name: 'Fault',
    code: 'ERR_STORE_UNAVAILABLE',
  })
})

t.test(
  'keeps two transactions on one connection apart: the second sees what the first committed',
  async t => {
    const { connections, close } = await openSqlite(1, migrate)
    t.teardown(close)
    const db = connections[0]!
    const first = db.transaction(async tx => {
      const won = await sqliteStorage(tx).claim('key', 2000, 1000)
      await new Promise(resolve => setImmediate(resolve))
      return won
    })
    const second = db.transaction(tx => sqliteStorage(tx).claim('key', 2000, 1000))
    t.same(await Promise.all([first, second]), [true, false])
  },
)
