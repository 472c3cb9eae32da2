import { randomBytes } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import type { SqlClient } from '@gatewright/kernel/sql'
import type { SessionStorage } from '@gatewright/session-issuer'
import { migrateCredentials, postgresCredentials } from '@gatewright/session-issuer/postgres'
import {
  auditContract,
  keyStorageContract,
  keyStorageFaults,
  sessionStorageContract,
  sessionStorageFaults,
  signingKeyStorageContract,
} from '@gatewright/session-issuer/testing'
import { auditEntry, childOf, sessionRecord } from '#packages/session-issuer/dist/testing/sample-records.js'
import t from 'tap'
import { LOCK_WAITS } from '../../harness/databases/citus.ts'
import { faultyPostgres, faultyStores } from '../../harness/databases/faulty.ts'
import { openKeptPostgres } from '../../harness/databases/kept-postgres.ts'
import { migratesAtOnce } from '../../harness/databases/store-cases.ts'
import { runner } from '../../harness/runner.ts'
import { readSqlFeed } from '../feeds.ts'
import { collectsExactly } from './collects.ts'

async function open() {
  const { connections, close } = await openKeptPostgres(5, migrateCredentials)
  const [reader, ...writers] = connections
  return { writers, readFeed: (positions: readonly number[]) => readSqlFeed(reader!, positions), close }
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

collectsExactly(async () => {
  const { writers, close } = await open()
  return { store: postgresCredentials(writers[0]!), close }
})

migratesAtOnce(migrateCredentials, db => postgresCredentials(db).keys.load('acc'))

keyStorageFaults(runner, 'Postgres', () =>
  faultyStores(faultyPostgres(migrateCredentials), db => postgresCredentials(db).keys),
)

sessionStorageFaults(runner, 'Postgres', () =>
  faultyStores(faultyPostgres(migrateCredentials), db => postgresCredentials(db).sessions),
)

/** Two simultaneous changes of a tree of sessions: the first commits when the second waits for it, or has not waited. */
async function overlapping<First, Second>(
  [one, two, watcher]: readonly SqlClient[],
  first: (sessions: SessionStorage) => Promise<First>,
  second: (sessions: SessionStorage) => Promise<Second>,
): Promise<[First, Second]> {
  const steps = new EventEmitter()
  const held: SqlClient = {
    ...one!,
    transaction: (work, options) =>
      one!.transaction(async tx => {
        const result = await work(tx)
        const commit = once(steps, 'commit')
        steps.emit('written')
        await commit
        return result
      }, options),
  }
  const written = once(steps, 'written')
  const begun = first(postgresCredentials(held).sessions)
  await written
  const state = { hasEnded: false }
  const other = second(postgresCredentials(two!).sessions).finally(() => {
    state.hasEnded = true
  })
  const waiting = async (): Promise<boolean> => (await watcher!.query(LOCK_WAITS)).rows.length > 0
  while (!state.hasEnded && !(await waiting()));
  steps.emit('commit')
  return Promise.all([begun, other])
}

const root = sessionRecord()
const child = childOf(root)

t.test(
  'stores a session and its audit row in one statement, if it has no parent and no policies',
  async t => {
    const { writers, close } = await open()
    t.teardown(close)
    const [db] = writers as [SqlClient]
    let statements = 0
    const counting: SqlClient = {
      ...db,
      query(text, values) {
        statements++
        return db.query(text, values)
      },
    }
    const { sessions, audit } = postgresCredentials(counting)
    t.equal(await sessions.insert(root, [], auditEntry('acc')), true)
    t.equal(statements, 1)
    t.equal((await audit.list('acc', 9, { at: Number.MAX_SAFE_INTEGER })).length, 1)
  },
)

t.test('denies a session below one whose revocation has not committed yet', async t => {
  const { writers, close } = await open()
  t.teardown(close)
  const { sessions } = postgresCredentials(writers[0]!)
  await sessions.insert(root, [])
  const outcome = await overlapping(
    writers,
    async first => first.revoke(root.sessionId, root.issuedAt),
    async second => second.insert(child, []),
  )
  t.same(outcome, [1, false])
})

t.test('revokes with a session one below it that has not committed yet', async t => {
  const { writers, close } = await open()
  t.teardown(close)
  const { sessions } = postgresCredentials(writers[0]!)
  await sessions.insert(root, [])
  const outcome = await overlapping(
    writers,
    async first => first.insert(child, []),
    async second => second.revoke(root.sessionId, root.issuedAt),
  )
  t.same(outcome, [true, 2])
})
