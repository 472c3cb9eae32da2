import { join } from 'node:path'
import { fromPgPool, fromSqlite, rows, type SqlClient } from '@gatewright/kernel/sql'
import type { SqlDialect } from '@gatewright/kernel/internal/sql'
import Database from 'libsql'
import pg from 'pg'

/** Opens the database that a host's environment names, past the host: to arrange rows and to look at them. */
export function openDatabaseOf(env: Readonly<Record<string, string>>): {
  readonly db: SqlClient
  close(): Promise<void>
} {
  const { DATABASE_URL: url, DATA_DIR: dataDir = '.' } = env
  if (url !== undefined) {
    const pool = new pg.Pool({ connectionString: url, max: 2 })
    return { db: fromPgPool(pool), close: () => pool.end() }
  }
  const database = new Database(join(dataDir, 'host.sqlite'))
  // The host writes at the same time.
  database.exec('pragma busy_timeout = 10000')
  return { db: fromSqlite(database), close: async () => void database.close() }
}

const TABLES: Readonly<Record<SqlDialect, string>> = {
  postgres: 'select table_name as name from information_schema.tables where table_schema = current_schema()',
  mariadb: 'select table_name as name from information_schema.tables where table_schema = database()',
  sqlite: "select name from sqlite_master where type = 'table'",
}

/** The names of all tables, sorted: to see that nothing was created. */
export async function tableNames(db: SqlClient, dialect: SqlDialect): Promise<readonly string[]> {
  return (await rows(db, TABLES[dialect])).map(row => String(row['name'])).sort()
}
