import { migrateSpends, postgresSpends } from '@gatewright/scope-guard/postgres'
import { spendStorageContract, spendStorageFaults } from '@gatewright/scope-guard/testing'
import t from 'tap'
import { faultyPostgres } from '../../harness/faulty.ts'
import { openKeptPostgres } from '../../harness/kept-postgres.ts'
import { runner } from '../../harness/runner.ts'
import { openPostgres } from '../../harness/stores.ts'

spendStorageContract(runner, 'Postgres', async () => {
  const { connections, close } = await openKeptPostgres(4, migrateSpends)
  return { connections: connections.map(db => postgresSpends(db)), close }
})

spendStorageFaults(runner, 'Postgres', async () => {
  const { healthy, cutBefore, cutAfter, malformed, close } = await faultyPostgres(migrateSpends, 'all')
  return {
    healthy: postgresSpends(healthy),
    cutBefore: postgresSpends(cutBefore),
    cutAfter: postgresSpends(cutAfter),
    malformed: postgresSpends(malformed),
    close,
  }
})

const item = { counter: 'c', unit: 'cents', cap: 10, amount: 6, expiresAt: null } as const

t.test('makes a second open transaction wait, and continues it when the first rolls back', async t => {
  const { connections, close } = await openKeptPostgres(2, migrateSpends)
  t.teardown(close)
  const [one, two] = connections
  const attempt = async (commit: boolean, account: string): Promise<string> => {
    let waiting: Promise<string> | undefined
    await one!
      .transaction(async tx => {
        await postgresSpends(tx).reserve(account, 'first', [item], 0)
        waiting = two!.transaction(
          async other => (await postgresSpends(other).reserve(account, 'second', [item], 0)).outcome,
        )
        if (!commit) throw new Error('roll back')
      })
      .catch(() => undefined)
    return (await waiting) as string
  }
  t.equal(await attempt(false, 'a'), 'held')
  t.equal(await attempt(true, 'b'), 'over')
})

t.test('reserves in one statement', async t => {
  const { connections, close } = await openKeptPostgres(1, migrateSpends, 'all')
  t.teardown(close)
  let statements = 0
  const storage = postgresSpends({
    dialect: 'postgres',
    query: (text, values) => {
      statements++
      return connections[0]!.query(text, values)
    },
  })
  await storage.reserve('a', 'h', [item, { ...item, counter: 'd' }], 0)
  t.equal(statements, 1)
  await storage.settle('a', 'h', 1)
  t.equal(statements, 2)
})

t.test('migrates from 8 instances at once, and again', async t => {
  const { connections, close } = await openPostgres(8, async () => {})
  t.teardown(close)
  await Promise.all(connections.map(db => migrateSpends(db)))
  await migrateSpends(connections[0]!)
  t.match(await postgresSpends(connections[0]!).reserve('a', 'h', [item], 0), { outcome: 'held' })
})

t.test('throws a fault for a reply of two items that is not an outcome', async t => {
  const two = [item, { ...item, counter: 'd' }]
  const replies = [
    ['nonsense', 'null', '{}', '[]', '["conflicts"]', '["none",[1,2]]', '["none",0,7]'],
    ['["held"]', '["held",[1]]', '["held",[1,"2"]]', '["held",[1.5]]', '["held",["1","2"]]'],
    ['["over"]', '["over",0]', '["over",0,"7"]', '["over","0",7]', '["over",0.5,7]'],
  ].flat()
  for (const reply of replies) {
    const storage = postgresSpends({ dialect: 'postgres', query: async () => ({ rows: [{ reply }] }) })
    await t.rejects(storage.reserve('a', 'h', two, 0), { name: 'Fault', code: 'ERR_STORE_REPLY' }, reply)
  }
})
