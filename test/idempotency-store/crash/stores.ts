import {
  migrateIdempotency,
  postgresIdempotency,
  postgresTransactionalIdempotency,
} from '@gatewright/idempotency-store/postgres'
import { migrateIdempotency as migrateSqlite, sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import type { IdempotencyStorage } from '@gatewright/idempotency-store'
import {
  fromPgPool,
  fromSqlite,
  rows,
  type SqlClient,
  type SqlQueries,
  type SqliteDatabase,
} from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import Database from 'libsql'
import type pg from 'pg'
import { openPostgresPool } from '../../harness/stores.ts'

/** Called around every statement that a store runs. */
export interface Steps {
  before(): void
  /** The statement was handed to the driver, and its reply has not come. */
  during(): void
  /** Of two statements that go out as one the server has the first, and nothing of the second. */
  between(): void
  after(): void
}

export const NO_STEPS: Steps = {
  before: () => {},
  during: () => {},
  between: () => {},
  after: () => {},
}

/** A store under test, opened by the parent and by the child that is killed. */
export interface CrashStore {
  readonly db: SqlClient
  readonly storage: (queries: SqlQueries) => IdempotencyStorage
  readonly transactionStorage: (tx: SqlQueries) => IdempotencyStorage
  close(): Promise<void>
}

export type StoreName = 'postgres' | 'sqlite'

/** Opens Postgres (place: a schema) or SQLite (place: a file), and calls `steps` around each statement. */
export async function openStore(name: StoreName, place: string, steps: Steps): Promise<CrashStore> {
  return name === 'postgres' ? openPostgres(place, steps) : openSqlite(place, steps)
}

async function openPostgres(schema: string, steps: Steps): Promise<CrashStore> {
  const pool = await openPostgresPool(schema, 2)
  type Query = (text: string, values?: unknown[]) => Promise<{ rows: Record<string, unknown>[] }>
  const around = async <T>(send: () => Promise<T>): Promise<T> => {
    steps.before()
    const reply = send()
    steps.during()
    const result = await reply
    steps.after()
    return result
  }
  const stepped =
    (query: Query): Query =>
    (text, values) =>
      around(() => query(text, values))
  const stepping = {
    query: stepped((text, values) => pool.query(text, values)),
    connect: async () => {
      const connection = await pool.connect()
      const alone = stepped((text, values) => connection.query(text, values))
      return {
        query: async (statement: unknown, values?: unknown[]) =>
          typeof statement === 'string'
            ? alone(statement, values)
            : stepBatch(connection, statement as Batch, steps),
        // Says that it takes batches, like the connection itself.
        pipeline: connection.pipeline,
        getTypeParser: connection.getTypeParser.bind(connection),
        release: (destroy?: boolean) => connection.release(destroy),
        on: (event: 'error', listener: () => void) => connection.on(event, listener),
        off: (event: 'error', listener: () => void) => connection.off(event, listener),
      }
    },
  }
  const db = fromPgPool(stepping)
  return {
    db,
    storage: queries => postgresIdempotency(queries),
    transactionStorage: tx => postgresTransactionalIdempotency(tx),
    close: () => pool.end(),
  }
}

/** A statement that goes out with the begin or the commit of its transaction. */
type Batch = pg.Submittable & { callback(error: unknown, response?: unknown): void }

/** Sends a batch, with a step where its first statement has reached the server alone. */
async function stepBatch(connection: pg.PoolClient, batch: Batch, steps: Steps): Promise<{ rows: [] }> {
  const { callback, submit } = batch
  batch.callback = (error, response) => {
    steps.after()
    callback(error, response)
  }
  batch.submit = wire => {
    let sent = false
    const watched = Object.create(wire) as pg.Connection
    watched.execute = (portal, more) => {
      wire.execute(portal, more)
      if (sent) return
      sent = true
      wire.stream.uncork()
      steps.between()
      wire.stream.cork()
    }
    submit(watched)
  }
  steps.before()
  connection.query(batch)
  steps.during()
  // Its response comes by the callback.
  return { rows: [] }
}

async function openSqlite(file: string, steps: Steps): Promise<CrashStore> {
  const database = new Database(file)
  database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma busy_timeout = 5000')
  const around = <T>(run: () => T): T => {
    steps.before()
    const result = run()
    steps.after()
    return result
  }
  const stepped: SqliteDatabase = {
    exec: text => around(() => database.exec(text)),
    prepare: text => {
      const statement = database.prepare(text)
      return {
        reader: statement.reader,
        all: (...values) => around(() => statement.all(...values)),
        run: (...values) => around(() => statement.run(...values)),
      }
    },
  }
  const storage = (queries: SqlQueries): IdempotencyStorage => sqliteIdempotency(queries)
  const close = async (): Promise<void> => {
    database.close()
  }
  return { db: fromSqlite(stepped), storage, transactionStorage: storage, close }
}

/** Creates the record and a small ledger: pay-ins, and the transfers that move their money. */
export async function prepare(name: StoreName, db: SqlClient): Promise<void> {
  await (name === 'postgres' ? migrateIdempotency : migrateSqlite)(db)
  await rows(db, 'create table payins (id text primary key, amount bigint not null)')
  await rows(db, 'create table transfers (payin text not null, debit text not null, credit text not null)')
}

/** The statements of a pay-in. */
export async function payIn(tx: SqlQueries, effectId: string): Promise<void> {
  await rows(tx, 'insert into payins (id, amount) values ($1, $2)', [effectId, 100])
  await rows(tx, 'insert into transfers (payin, debit, credit) values ($1, $2, $3)', [
    effectId,
    'cash',
    'account-1',
  ])
  await rows(tx, 'select amount from payins where id = $1', [effectId])
}

/** How often money moved. */
export async function transfers(db: SqlClient): Promise<number> {
  return toInteger((await rows(db, 'select count(*) as n from transfers'))[0]?.['n'])
}
