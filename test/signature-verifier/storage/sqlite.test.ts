import { GRACE_MS } from '@gatewright/kernel'
import { migrateNonces, sqliteNonces } from '@gatewright/signature-verifier/sqlite'
import { challengeStorageContract, nonceStorageContract } from '@gatewright/signature-verifier/testing'
import t from 'tap'
import { runner } from '../../harness/runner.ts'
import { openSqlite } from '../../harness/stores.ts'

const open = async () => {
  const { connections, close } = await openSqlite(2, migrateNonces)
  return { connections: connections.map(db => sqliteNonces(db)), close }
}
nonceStorageContract(runner, 'SQLite', open)
challengeStorageContract(runner, 'SQLite', open)

t.test('throws a fault when the database cannot be used', async t => {
  const { connections, close } = await openSqlite(1, async () => {})
  t.teardown(close)
  await t.rejects(sqliteNonces(connections[0]!).claim('key', 2000, 1000), {
    name: 'Fault',
    code: 'ERR_STORE_UNAVAILABLE',
  })
})

t.test('isolates two transactions on one connection: the second sees what the first committed', async t => {
  const { connections, close } = await openSqlite(1, migrateNonces)
  t.teardown(close)
  const db = connections[0]!
  const first = db.transaction(async tx => {
    const won = await sqliteNonces(tx).claim('key', 2000, 1000)
    await new Promise(resolve => setImmediate(resolve))
    return won
  })
  const second = db.transaction(tx => sqliteNonces(tx).claim('key', 2000, 1000))
  t.same(await Promise.all([first, second]), [true, false])
})

t.test('throws a fault when the file is full, and forgets nothing', async t => {
  const { connections, close } = await openSqlite(1, migrateNonces)
  t.teardown(close)
  const db = connections[0]!
  const storage = sqliteNonces(db)
  const { rows } = await db.query('select page_count as pages from pragma_page_count()')
  await db.transaction(tx => tx.query(`pragma max_page_count = ${Number(rows[0]?.['pages']) + 4}`))
  let kept = 0
  const claimNext = async (): Promise<boolean> => {
    const won = await storage.claim(`n${kept}`, 9000, 1000).catch(() => false)
    if (won) kept++
    return won
  }
  while (await claimNext()) if (kept > 10_000) break
  t.ok(kept > 10 && kept < 10_000, `it held ${kept}`)
  await t.rejects(storage.claim(`n${kept}`, 9000, 1000), { name: 'Fault', code: 'ERR_STORE_UNAVAILABLE' })
  for (const index of [0, kept - 1]) t.equal(await storage.claim(`n${index}`, 9999, 8999), false)
})

t.test('collects nonces and challenges, together at most as many as the limit', async t => {
  const { connections, close } = await openSqlite(1, db => migrateNonces(db, 'own_'))
  t.teardown(close)
  const storage = sqliteNonces(connections[0]!, { prefix: 'own_' })
  for (const key of ['a', 'b']) await storage.claim(key, 10, 0)
  for (const key of ['c', 'd', 'e']) await storage.issue(key, 10, 0)
  const end = 10 + GRACE_MS
  t.equal(await storage.collect(9, end - 1), 0)
  const counts = []
  for (let n = 0; n < 3; n++) counts.push(await storage.collect(3, end))
  t.same(counts, [3, 2, 0])
})

t.test('throws a fault for a reply of two rows, or of another row than it asked for', async t => {
  for (const rows of [[{ won: 1 }, { won: 1 }], [{ won: 2 }], [{}]]) {
    const storage = sqliteNonces({ dialect: 'sqlite', query: async () => ({ rows }) })
    await t.rejects(storage.claim('a', 10, 0), { name: 'Fault', code: 'ERR_STORE_REPLY' })
  }
})
