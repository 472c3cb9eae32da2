import { randomBytes } from 'node:crypto'
import { migrateCredentials, sqliteCredentials } from '@gatewright/session-issuer/sqlite'
import {
  auditContract,
  keyStorageContract,
  sessionStorageContract,
  signingKeyStorageContract,
} from '@gatewright/session-issuer/testing'
import t from 'tap'
import { runner } from '../../harness/runner.ts'
import { openSqlite } from '../../harness/stores.ts'
import { readSqlFeed } from '../feeds.ts'

// One connection, as in the host: a transaction that awaits holds SQLite's lock, and a second connection of the same
// process would block the event loop while it waits for that lock.
async function open() {
  const { connections, close } = await openSqlite(1, migrateCredentials)
  const db = connections[0]!
  return { db, readFeed: (after: number) => readSqlFeed(db, after), close }
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
