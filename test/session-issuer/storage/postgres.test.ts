import { randomBytes } from 'node:crypto'
import { migrateCredentials, postgresCredentials } from '@gatewright/session-issuer/postgres'
import {
  auditContract,
  keyStorageContract,
  keyStorageFaults,
  sessionStorageContract,
  sessionStorageFaults,
  signingKeyStorageContract,
} from '@gatewright/session-issuer/testing'
import { faultyPostgres } from '../../harness/faulty.ts'
import { runner } from '../../harness/runner.ts'
import { openPostgres } from '../../harness/stores.ts'
import { readSqlFeed } from '../feeds.ts'

async function open() {
  const { connections, close } = await openPostgres(5, migrateCredentials)
  const [reader, ...writers] = connections
  return { writers, readFeed: (after: number) => readSqlFeed(reader!, after), close }
}

keyStorageContract(runner, 'Postgres', async () => {
  const { writers, ...rest } = await open()
  return { connections: writers.map(db => postgresCredentials(db).keys), ...rest }
})

sessionStorageContract(runner, 'Postgres', async () => {
  const { writers, ...rest } = await open()
  return { connections: writers.map(db => postgresCredentials(db).sessions), ...rest }
})

signingKeyStorageContract(runner, 'Postgres', async () => {
  const encryptionKey = randomBytes(32)
  const { writers, close } = await open()
  return { connections: writers.map(db => postgresCredentials(db, { encryptionKey }).signingKeys), close }
})

auditContract(runner, 'Postgres', async () => {
  const { writers, close } = await open()
  return { connections: writers.map(db => postgresCredentials(db)), close }
})

keyStorageFaults(runner, 'Postgres', async () => {
  const { healthy, cutBefore, cutAfter, malformed, close } = await faultyPostgres(migrateCredentials)
  const keys = (db: typeof healthy) => postgresCredentials(db).keys
  return {
    healthy: keys(healthy),
    cutBefore: keys(cutBefore),
    cutAfter: keys(cutAfter),
    malformed: keys(malformed),
    close,
  }
})

sessionStorageFaults(runner, 'Postgres', async () => {
  const { healthy, cutBefore, cutAfter, malformed, close } = await faultyPostgres(migrateCredentials)
  const sessions = (db: typeof healthy) => postgresCredentials(db).sessions
  return {
    healthy: sessions(healthy),
    cutBefore: sessions(cutBefore),
    cutAfter: sessions(cutAfter),
    malformed: sessions(malformed),
    close,
  }
})
