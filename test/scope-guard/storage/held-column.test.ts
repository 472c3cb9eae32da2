// Databases of version 1 have no column for what is held. The migration fills it from the open holds.
import { readFileSync } from 'node:fs'
import { keyDigest } from '@gatewright/kernel'
import { migrate, readVersions, rows, type SqlClient, type SqlDialect } from '@gatewright/kernel/sql'
import { migrateSpends, postgresSpends } from '@gatewright/scope-guard/postgres'
import { migrateSpends as migrateSqlite, sqliteSpends } from '@gatewright/scope-guard/sqlite'
import t from 'tap'
import { openPostgres, openSqlite } from '../../harness/stores.ts'

const account = keyDigest('a')
const [day, calls] = [keyDigest('day'), keyDigest('calls')]

async function createVersion1(db: SqlClient, dialect: SqlDialect): Promise<void> {
  const text = readFileSync(`packages/scope-guard/src/storage/${dialect}.sql`, 'utf8')
  await migrate(db, dialect, { namespace: 'spend', versions: readVersions(text).slice(0, 1) })
  const counter =
    'insert into gw_spend_counters (account, counter, used, expires_at) values ($1, $2, $3, null)'
  await rows(db, counter, [account, day, 90])
  await rows(db, counter, [account, calls, 3])
  await rows(db, counter, [keyDigest('b'), day, 7])
  const hold = 'insert into gw_spend_holds (account, hold, items, held_at) values ($1, $2, $3, 0)'
  const items = (cents: number) =>
    JSON.stringify([
      [day, 'cents', cents],
      [calls, 'count', 1],
    ])
  await rows(db, hold, [account, keyDigest('h1'), items(50)])
  await rows(db, hold, [account, keyDigest('h2'), items(30)])
}

/** What a process does that still runs the version before the column. */
async function holdAsVersion1(db: SqlClient): Promise<void> {
  await rows(db, 'update gw_spend_counters set used = used + 9 where account = $1 and counter = $2', [
    account,
    day,
  ])
  const hold = 'insert into gw_spend_holds (account, hold, items, held_at) values ($1, $2, $3, 0)'
  await rows(db, hold, [account, keyDigest('old'), JSON.stringify([[day, 'cents', 9]])])
}

for (const [dialect, open, upgrade, storageOf] of [
  ['sqlite', openSqlite, migrateSqlite, sqliteSpends],
  ['postgres', openPostgres, migrateSpends, postgresSpends],
] as const) {
  const upgraded = async (t: { teardown(end: () => unknown): void }) => {
    const { connections, close } = await open(1, async () => {})
    t.teardown(close)
    const db = connections[0] as SqlClient
    await createVersion1(db, dialect)
    await upgrade(db)
    return { db, storage: storageOf(db) }
  }

  void t.test(`a migration counts the holds that are open already, on ${dialect}`, async t => {
    const { storage } = await upgraded(t)
    t.same(await storage.usage('a', ['day', 'calls']), [
      { used: 90, held: 80 },
      { used: 3, held: 2 },
    ])
    t.same(await storage.usage('b', ['day']), [{ used: 7, held: 0 }])
    t.equal(await storage.settle('a', 'h1', 20), 'settled')
    t.equal(await storage.release('a', 'h2'), true)
    t.same(await storage.usage('a', ['day', 'calls']), [
      { used: 30, held: 0 },
      { used: 2, held: 0 },
    ])
  })

  void t.test(`a hold of the version before can be settled and released, on ${dialect}`, async t => {
    const { db, storage } = await upgraded(t)
    for (const name of ['h1', 'h2']) t.equal(await storage.release('a', name), true)
    await holdAsVersion1(db)
    t.equal(await storage.settle('a', 'old', 4), 'settled')
    t.same(await storage.usage('a', ['day']), [{ used: 14, held: 0 }])
    await holdAsVersion1(db)
    t.equal(await storage.release('a', 'old'), true)
    t.same(await storage.usage('a', ['day']), [{ used: 14, held: 0 }])
  })
}
