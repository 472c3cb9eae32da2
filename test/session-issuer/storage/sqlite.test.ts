import { randomBytes } from 'node:crypto'
import { FEED_RETENTION_MS, GRACE_MS } from '@gatewright/kernel'
import { fromSqlite, type SqlClient, type SqlQueries, type SqlTransaction } from '@gatewright/kernel/sql'
import { migrateCredentials, sqliteCredentials } from '@gatewright/session-issuer/sqlite'
import {
  auditContract,
  keyStorageContract,
  sessionStorageContract,
  signingKeyStorageContract,
} from '@gatewright/session-issuer/testing'
import { routeOf } from '#packages/session-issuer/dist/route.js'
import {
  auditEntry,
  childOf,
  keyRecord,
  sessionRecord,
} from '#packages/session-issuer/dist/testing/sample-records.js'
import Database from 'libsql'
import t from 'tap'
import { withAwaitedQueries } from '../../harness/databases/awaited-queries.ts'
import { runner } from '../../harness/runner.ts'
import { openSqlite } from '../../harness/stores.ts'
import { readSqlFeed } from '../feeds.ts'
import { collectsExactly } from './collects.ts'

// One connection, as in the host: a transaction that awaits holds SQLite's lock, and a second connection of the same
// process would block the event loop while it waits for that lock.
async function open() {
  const { connections, close } = await openSqlite(1, migrateCredentials)
  const db = connections[0]!
  return { db, readFeed: (positions?: readonly number[]) => readSqlFeed(db, positions), close }
}

keyStorageContract(runner, 'SQLite', async () => {
  const { db, ...rest } = await open()
  return { connections: [sqliteCredentials(db).keys], ...rest }
})

sessionStorageContract(runner, 'SQLite', async () => {
  const { db, ...rest } = await open()
  return { connections: [sqliteCredentials(db).sessions], ...rest }
})

signingKeyStorageContract(runner, 'SQLite', async () => {
  const encryptionKey = randomBytes(32)
  const { db, close } = await open()
  return { connections: [sqliteCredentials(db, { encryptionKey }).signingKeys], close }
})

auditContract(runner, 'SQLite', async () => {
  const { db, close } = await open()
  return { connections: [sqliteCredentials(db)], close }
})

t.test('private signing keys are encrypted in the database, and decrypt with their own key only', async t => {
  const { db, close } = await open()
  t.teardown(close)
  const encryptionKey = randomBytes(32)
  const { signingKeys } = sqliteCredentials(db, { encryptionKey })
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43), d: 'B'.repeat(43) }
  const key = {
    kid: 'k',
    algorithm: 'EdDSA',
    privateJwk: jwk,
    activatesAt: 0,
    retiresAt: null,
    dropsAt: null,
  }
  await signingKeys.replace(0, [key as never])
  const { rows } = await db.query('select * from gw_signing_keys')
  t.notMatch(JSON.stringify(rows), jwk.d)
  const others = [{ encryptionKey: randomBytes(32) }, { encryptionKey, issuer: 'default2' }]
  await t.rejects(sqliteCredentials(db, others[0]!).signingKeys.load(), { code: 'ERR_KEYS_UNAVAILABLE' })
  t.same(await sqliteCredentials(db, others[1]!).signingKeys.load(), { revision: 0, keys: [] })
  await db.query(`update gw_signing_keys set issuer = 'default2'`)
  await t.rejects(sqliteCredentials(db, others[1]!).signingKeys.load(), { code: 'ERR_KEYS_UNAVAILABLE' })
  for (const encryptionKey of [randomBytes(31), 'x'.repeat(32) as never]) {
    t.throws(() => sqliteCredentials(db, { encryptionKey }), /encryptionKey must be 32 bytes/)
  }
})

collectsExactly(async () => {
  const { db, close } = await open()
  return { store: sqliteCredentials(db), close }
})

t.test('stores no session without its audit row', async t => {
  const { db, close } = await open()
  t.teardown(close)
  const { sessions } = sqliteCredentials(db)
  const entry = auditEntry('acc')
  const [first, second] = [sessionRecord({ accountId: 'acc' }), sessionRecord({ accountId: 'acc' })]
  t.equal(await sessions.insert(first, [], entry), true)
  await t.rejects(sessions.insert(second, [], entry), { code: 'ERR_STORE_UNAVAILABLE' })
  t.equal(await sessions.find(second.sessionId), undefined)
})

/** Ids of rows of the account `acc`. */
const [idA, idB] = [1, 2].map(n => `${routeOf('acc')}_${n}`) as [string, string]

t.test('waits for every query before it ends its transaction', async t => {
  const { db, close } = await open()
  t.teardown(close)
  const { keys, sessions, audit } = sqliteCredentials(withAwaitedQueries(db))
  const both = [idA, idB].map(id => keyRecord('acc', { id, lineageId: id }))
  const policies = both.map(({ id }) => ({ id: `pol_${id}`, lineageId: id, document: {} }))
  const feed = both.map(({ id }) => ({ kind: 'key', id, version: 1, at: 1 }) as const)
  const write = { keys: both, policies, feed, audit: [auditEntry('acc'), auditEntry('acc')] }
  t.equal(await keys.commit('acc', 0, write), true)
  await keys.touch(both.map(({ id }) => ({ id, at: 1 })))
  t.equal(await keys.commit('acc', 2, { keys: [], policies: [], feed: [], drop: [idA] }), true)
  t.same(await keys.policies(policies.map(({ id }) => id)), [{ id: `pol_${idB}`, document: {} }])
  const root = sessionRecord({ accountId: 'acc' })
  const child = childOf(root)
  const own = [idA, idB].map(id => ({ id: `pol_${id}`, document: {} }))
  t.equal(await sessions.insert(root, own, auditEntry('acc')), true)
  t.equal(await sessions.insert(child, [], auditEntry('acc')), true)
  t.equal(await sessions.revoke(root.sessionId, root.issuedAt, auditEntry('acc')), 2)
  await sessions.insert(sessionRecord({ accountId: 'acc' }), [])
  t.equal(await sessions.revokeAccount('acc', 9, root.issuedAt), 1)
  t.equal(await sessions.collect(9, root.expiresAt + GRACE_MS), 3)
  t.equal((await audit.list('acc', 9, { at: Number.MAX_SAFE_INTEGER })).length, 5)
})

t.test('collects as many old feed entries as the limit, and says so', async t => {
  const { db, close, readFeed } = await open()
  t.teardown(close)
  const { keys, sessions } = sqliteCredentials(db, { prefix: 'gw_' })
  const feed = [1, 2, 3].map(at => ({ kind: 'key', id: 'k', version: at, at }) as const)
  await keys.commit('acc', 0, { keys: [], policies: [], feed })
  t.equal(await sessions.collect(9, 1 + FEED_RETENTION_MS), 0)
  t.equal(await sessions.collect(1, 3 + FEED_RETENTION_MS), 1)
  t.equal(await sessions.collect(9, 3 + FEED_RETENTION_MS), 1)
  t.same(
    (await readFeed()).map(({ at }) => at),
    [3],
  )
})

t.test('throws a fault where the database returns another revision than the next', async t => {
  const { db, close } = await open()
  t.teardown(close)
  const replying = (revision: unknown): typeof db => {
    const query = async () => ({ rows: [{ revision }] })
    return { ...db, query, transaction: work => work({ dialect: 'sqlite', query }) }
  }
  for (const [current, revision] of [
    [0, 2],
    [0, 0],
    [1, 3],
    [1, 0],
    [2, 1],
  ] as const) {
    const wrong = sqliteCredentials(replying(revision), { encryptionKey: randomBytes(32) })
    const write = { keys: [], policies: [], feed: [] }
    const fault = { name: 'Fault', code: 'ERR_STORE_REPLY' }
    await t.rejects(wrong.keys.commit('acc', current, write), fault)
    await t.rejects(wrong.signingKeys.replace(current, []), fault)
  }
})

t.test('no statement reads the rows of other accounts of a lane', async t => {
  const database = new Database(':memory:')
  t.teardown(() => database.close())
  const db = fromSqlite(database)
  await migrateCredentials(db)
  const texts = new Set<string>()
  const noting = (on: SqlQueries): SqlQueries => ({
    ...on,
    query(text, values) {
      texts.add(text)
      return on.query(text, values)
    },
  })
  const noted: SqlClient = {
    ...noting(db),
    transaction: (work, options) => db.transaction(tx => work(noting(tx) as SqlTransaction), options),
  }
  const { keys, sessions } = sqliteCredentials(noted)
  const root = sessionRecord({ accountId: 'acc' })
  await sessions.insert(root, [])
  await sessions.insert(childOf(root), [])
  await sessions.list('acc', 10, root.issuedAt)
  await sessions.revoke(root.sessionId, root.issuedAt)
  await sessions.revokeAccount('acc', 10, root.issuedAt)
  await sessions.collect(10, root.expiresAt + GRACE_MS + FEED_RETENTION_MS)
  await keys.load('acc')
  await keys.collect(10, root.issuedAt)
  t.ok(texts.size >= 10, `${texts.size} statements`)
  for (const text of texts) {
    const plain = text.replaceAll(/\$\d+/g, 'null')
    const plan = database.prepare(`explain query plan ${plain}`).all() as { readonly detail: string }[]
    const details = plan.map(({ detail }) => detail)
    t.notMatch(details.join('; '), /\(lane=\?\)|SCAN gw_(?:keys|sessions)/, text)
  }
})
