// A transaction that fails at any of its statements, or at its commit, writes all or nothing: no row without its feed
// entry and no entry without its row.
import type { SqlClient, SqlQueries } from '@gatewright/kernel/sql'
import { migrateCredentials, postgresCredentials } from '@gatewright/session-issuer/postgres'
import { migrateCredentials as migrateSqlite, sqliteCredentials } from '@gatewright/session-issuer/sqlite'
import {
  auditEntry,
  keyRecord,
  policyIdOf,
  sessionRecord,
} from '#packages/session-issuer/dist/testing/sample-records.js'
import t from 'tap'
import { openPostgres, openSqlite } from '../../harness/stores.ts'
import { readSqlFeed } from '../feeds.ts'

/** A client whose transactions fail at statement `n`, or at the commit when they have fewer. */
function dying(db: SqlClient, n: number): { db: SqlClient; statements: () => number } {
  let count = 0
  const limited = (tx: SqlQueries): SqlQueries => ({
    dialect: tx.dialect,
    query: async (text, values) => {
      if (count++ === n) throw new Error('killed')
      return tx.query(text, values)
    },
  })
  const transaction: SqlClient['transaction'] = work =>
    db.transaction(async tx => {
      const result = await work(limited(tx))
      if (count <= n) throw new Error('killed at the commit')
      return result
    })
  return { db: { ...db, transaction }, statements: () => count }
}

const BACKENDS = {
  Postgres: {
    open: () => openPostgres(1, migrateCredentials),
    storage: (db: SqlClient) => postgresCredentials(db),
  },
  SQLite: { open: () => openSqlite(1, migrateSqlite), storage: (db: SqlClient) => sqliteCredentials(db) },
}

for (const [name, { open, storage }] of Object.entries(BACKENDS)) {
  t.test(`a commit of keys that is killed at any step leaves all or nothing in ${name}`, async t => {
    const { connections, close } = await open()
    t.teardown(close)
    const db = connections[0]!
    let steps = 0
    for (let n = 0; n <= steps; n++) {
      const key = keyRecord(`account ${n}`)
      const feed = [{ kind: 'key', id: key.id, version: 2, at: 1 }] as const
      const audit = [auditEntry(key.accountId)]
      const policies = [{ id: policyIdOf(key.accountId), lineageId: key.id, document: {} }]
      const hurt = dying(db, n)
      await t.rejects(storage(hurt.db).keys.commit(key.accountId, 0, { keys: [key], policies, feed, audit }))
      steps = Math.max(steps, hurt.statements())
      t.same(await storage(db).keys.load(key.accountId), { revision: 0, keys: [] }, `step ${n}`)
      t.same(await storage(db).keys.policies(policies.map(policy => policy.id)), [])
      t.same(await storage(db).audit.list(key.accountId, 9, { at: Number.MAX_SAFE_INTEGER }), [])
      t.same(await readSqlFeed(db), [])
    }
    t.ok(steps >= 4, `${steps} statements`)
  })

  t.test(`a revocation that is killed at any step leaves all or nothing in ${name}`, async t => {
    const { connections, close } = await open()
    t.teardown(close)
    const db = connections[0]!
    let steps = 0
    for (let n = 0; n <= steps; n++) {
      const session = sessionRecord()
      await storage(db).sessions.insert(session, [])
      const hurt = dying(db, n)
      await t.rejects(
        storage(hurt.db).sessions.revoke(session.sessionId, session.issuedAt, auditEntry(session.accountId)),
      )
      steps = Math.max(steps, hurt.statements())
      t.equal((await storage(db).sessions.find(session.sessionId))?.revokedAt, null, `step ${n}`)
      t.same(await storage(db).audit.list(session.accountId, 9, { at: Number.MAX_SAFE_INTEGER }), [])
      t.same(await readSqlFeed(db), [])
    }
    t.ok(steps >= 3, `${steps} statements`)
  })
}
