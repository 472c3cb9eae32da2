import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keyDigest } from '@gatewright/kernel'
import { fromPgPool, fromSqlite, rows, type SqlClient } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import type { Store } from 'gatewright'
import { postgresStore } from 'gatewright/postgres'
import { sqliteStore } from 'gatewright/sqlite'
import Database from 'libsql'
import { openPostgresPool, uniqueName } from '../../harness/stores.ts'

/** The database of a server, opened beside it. */
export interface Place {
  readonly env: Readonly<Record<string, string>>
  readonly store: Required<Pick<Store, 'spends'>> & Store
  readonly db: SqlClient
  /** Reads how much of an account's caps is used, and how much of that is held, in cents. */
  countersOf(account: string): Promise<{ readonly used: number; readonly held: number }>
  close(): Promise<void>
}

/** Makes an empty database with the tables of the store. */
export async function freshPlace(name: 'postgres' | 'sqlite'): Promise<Place> {
  const place = name === 'postgres' ? await onPostgres() : onSqlite()
  await place.store.migrate()
  return { ...place, countersOf: account => countersOf(place.db, account) }
}

async function onPostgres() {
  const schema = uniqueName()
  const pool = await openPostgresPool(schema, 1)
  return {
    env: { POSTGRES_URL: process.env['TEST_POSTGRES_URL'] as string, SCHEMA: schema },
    store: postgresStore(pool),
    db: fromPgPool(pool),
    async close() {
      await pool.query(`drop schema ${schema} cascade`)
      await pool.end()
    },
  }
}

function onSqlite() {
  const directory = mkdtempSync(join(tmpdir(), 'gatewright-kills-'))
  const file = join(directory, 'server.sqlite')
  const database = new Database(file)
  database.exec('pragma journal_mode = wal; pragma busy_timeout = 5000')
  return {
    env: { SQLITE_FILE: file },
    store: sqliteStore(database) as Place['store'],
    db: fromSqlite(database),
    async close() {
      database.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function countersOf(db: SqlClient, account: string): ReturnType<Place['countersOf']> {
  const text = 'select sum(used) as used, sum(held) as held from gw_spend_counters where account = $1'
  const [row] = await rows(db, text, [keyDigest(account)])
  return { used: toInteger(row?.['used'] ?? 0), held: toInteger(row?.['held'] ?? 0) }
}
