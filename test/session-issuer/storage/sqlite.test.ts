import { randomBytes } from 'node:crypto'
import { migrate, sqliteStorage } from '@gatewright/session-issuer/sqlite'
import {
  keyStorageContract,
  sessionStorageContract,
  signingKeyStorageContract,
} from '@gatewright/session-issuer/testing'
import { runner } from '../../harness/runner.ts'
import { openSqlite } from '../../harness/stores.ts'

// One connection, as in the host: a transaction that awaits holds SQLite's lock, and a second connection of the
// same process would wait for it without letting it go on.
keyStorageContract(runner, 'SQLite', async () => {
  const { connections, close } = await openSqlite(1, migrate)
  return { connections: connections.map(db => sqliteStorage(db).keys), close }
})

sessionStorageContract(runner, 'SQLite', async () => {
  const { connections, close } = await openSqlite(1, migrate)
  return { connections: connections.map(db => sqliteStorage(db).sessions), close }
})

signingKeyStorageContract(runner, 'SQLite', async () => {
  const encryptionKey = randomBytes(32)
  const { connections, close } = await openSqlite(1, migrate)
  return { connections: connections.map(db => sqliteStorage(db, { encryptionKey }).signingKeys), close }
})
