// A transaction that fails at any of its statements, or at its commit, writes all or nothing: no row without its feed
// entry and no entry without its row.
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import {
  migrateCredentials,
  postgresCredentials,
  type SqlCredentialsOptions,
} from '@gatewright/session-issuer/postgres'
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
    storage: (db: SqlClient, options?: SqlCredentialsOptions) => postgresCredentials(db, options),
  },
  SQLite: {
    open: () => openSqlite(1, migrateSqlite),
    storage: (db: SqlClient, options?: SqlCredentialsOptions) => sqliteCredentials(db, options),
  },
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

  t.test(`what is written within a commit of keys is written with it, or not at all, in ${name}`, async t => {
    const { connections, close } = await open()
    t.teardown(close)
    const db = connections[0]!
    const mark = (id: string, fails: boolean): SqlCredentialsOptions => ({
      async withinCommit(tx, accountId, { keys }) {
        const text = `insert into gw_accounts (lane, account, revision) values (0, $1, 1) returning lane`
        await rows(tx, text, [`${id} ${accountId} ${keys.length}`])
        if (fails) throw new Error('no')
      },
    })
    const marks = (): Promise<readonly unknown[]> =>
      rows(db, "select account from gw_accounts where account like 'mark %'")
    const key = keyRecord('account')
    const write = { keys: [key], policies: [], feed: [] }
    await t.rejects(storage(db, mark('mark a', true)).keys.commit(key.accountId, 0, write), /no/)
    t.same(await storage(db).keys.load(key.accountId), { revision: 0, keys: [] })
    t.same(await marks(), [])
    t.equal(await storage(db, mark('mark b', false)).keys.commit(key.accountId, 0, write), true)
    t.equal(
      await storage(db, mark('mark c', false)).keys.commit(key.accountId, 0, write),
      false,
      'a lost race',
    )
    t.same(await marks(), [{ account: 'mark b account 1' }])
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
