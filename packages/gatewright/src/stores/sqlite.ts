import { migrateIdempotency, sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { checkOptions } from '@gatewright/kernel/internal'
import { fromSqlite, type SqliteDatabase } from '@gatewright/kernel/sql'
import { migrateSpends, sqliteApprovals, sqliteSpends } from '@gatewright/scope-guard/sqlite'
import { prefixOf, type SqlStoreOptions } from './sql.ts'
import type { Store } from '../index.ts'
import { collector, nameOfGiven } from './store.ts'

/** Options of `sqliteStore`. */
export interface SqliteStoreOptions extends SqlStoreOptions {
  /** A second connection to the same file in WAL mode, which reads while the first one writes. Default: reads wait for writes. */
  readonly reader?: SqliteDatabase
}

/**
 * Keeps everything in the SQLite database of one process, with your database of libsql, better-sqlite3 or `node:sqlite`. Rate
 * limits count in the process. Call `migrate()` before the server listens.
 */
export function sqliteStore(database: SqliteDatabase, options: SqliteStoreOptions = {}): Store {
  const { reader, ...rest } = checkOptions('sqliteStore', options, { reader: true, prefix: true })
  const prefix = prefixOf('sqliteStore', rest)
  if (typeof (database as Partial<SqliteDatabase> | null)?.prepare !== 'function')
    throw new TypeError(
      `sqliteStore: database must be a database of libsql, better-sqlite3 or node:sqlite, got ${nameOfGiven(database)}`,
    )
  const db = fromSqlite(database, reader)
  const ports = {
    idempotency: sqliteIdempotency(db, { prefix }),
    spends: sqliteSpends(db, { prefix }),
    approvals: sqliteApprovals(db, { prefix }),
  }
  return {
    ...ports,
    async migrate() {
      await migrateIdempotency(db, prefix)
      await migrateSpends(db, prefix)
    },
    collect: collector(ports),
  }
}
