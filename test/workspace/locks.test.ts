// A lock lies with the rows that it protects: on a database of several machines, a lock on another one can be free while the rows are not yet
// committed.
import { readFileSync } from 'node:fs'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { migrateSpends, postgresApprovals, postgresSpends } from '@gatewright/scope-guard/postgres'
import { sessionRecord } from '#packages/session-issuer/dist/testing/sample-records.js'
import { migrateCredentials, postgresCredentials } from '@gatewright/session-issuer/postgres'
import t from 'tap'
import { filesBelow } from '../harness/files.ts'
import { openPostgres } from '../harness/stores.ts'
import { dividedTables } from '../harness/databases/table-marks.ts'

interface Lock {
  /** A table whose rows it protects, and the column by which it is divided: the lock has the same value. */
  readonly protects?: readonly [table: string, column: string]
  /** Does something that takes the lock. */
  readonly take?: (db: SqlClient) => Promise<unknown>
  /** Why it protects no rows of an account. */
  readonly reason?: string
}

/** Every lock by name. */
const LOCKS: Readonly<Record<string, Lock>> = {
  spend: {
    protects: ['gw_spend_counters', 'account'],
    take: db =>
      postgresSpends(db).reserve(
        'ann',
        'hold',
        [{ counter: 'day', unit: 'cents', cap: 9, amount: 1, expiresAt: null }],
        0,
      ),
  },
  approvals: {
    protects: ['gw_approvals', 'account'],
    async take(db) {
      const request = {
        accountId: 'ann',
        keyId: 'key',
        operation: 'payments.create',
        payee: [],
        amountCents: 1,
        currency: 'USD',
        policyIds: [],
      }
      await postgresApprovals(db).open({ id: 'apr', request, requestedAt: 0, expiresAt: 1 }, 9)
    },
  },
  feed: {
    protects: ['gw_feed', 'lane'],
    async take(db) {
      const { sessions } = postgresCredentials(db)
      const session = sessionRecord({ accountId: 'ann' })
      await sessions.insert(session, [])
      await sessions.revoke(session.sessionId, session.issuedAt)
    },
  },
  authorization: { reason: 'an id of the network, whose account is not known before: it counts nothing' },
  migrate: { reason: 'the tables themselves' },
}

t.test('every lock by name is in the table', async t => {
  const found = filesBelow('packages', '.ts')
    .filter(path => /^packages\/[^/]+\/src\//.test(path))
    .flatMap(path => [...readFileSync(path, 'utf8').matchAll(/lockName\([^)]*kind: '(\w+)'/g)])
    .map(([, kind]) => kind as string)
  t.same([...new Set(found)].sort(), Object.keys(LOCKS).sort())
})

t.test('a lock has the value by which the rows that it protects are divided', async t => {
  const { connections, close } = await openPostgres(1, async db => {
    await migrateSpends(db)
    await migrateCredentials(db)
  })
  t.teardown(close)
  const [db] = connections as readonly [SqlClient]
  for (const [kind, { protects, take, reason }] of Object.entries(LOCKS)) {
    if (!protects) {
      t.ok(reason, kind)
      continue
    }
    const [table, column] = protects
    t.equal(dividedTables().get(table), column)
    await take?.(db)
    const apart = await rows(
      db,
      `select l.account_id from gw_lock_rows l where l.name = $1
        and not exists (select 1 from ${table} p where p.${column} = l.account_id)`,
      [kind],
    )
    t.same(apart, [], kind)
    t.ok(
      (await rows(db, 'select 1 from gw_lock_rows where name = $1', [kind])).length > 0,
      `${kind} was taken`,
    )
  }
})
