import { join } from 'node:path'
import { sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { fromSqlite, rows } from '@gatewright/kernel/sql'
import { sqliteAliasUsage } from '@gatewright/legacy-alias-router/sqlite'
import { sqliteSpends, sqlRevocationFeed } from '@gatewright/scope-guard/sqlite'
import { sqliteCredentials } from '@gatewright/session-issuer/sqlite'
import { sqliteNonces } from '@gatewright/signature-verifier/sqlite'
import Database from 'libsql'
import type { Backend, DatabaseOptions } from './backend.ts'
import { migrateAll } from './migrate-all.ts'
import type { Secrets } from './secrets.ts'

/**
 * Opens the embedded SQLite in `dataDir`, which must be locked. A commit is on disk
 * when it returns (WAL, full sync).
 */
export function embeddedBackend(
  dataDir: string,
  secrets: Secrets,
  { migrateModules }: DatabaseOptions,
): Backend {
  const connect = (pragmas: string): Database.Database => {
    const connection = new Database(join(dataDir, 'host.sqlite'))
    connection.exec(pragmas)
    return connection
  }
  const writer = connect('pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on')
  const reader = connect('pragma query_only = on; pragma busy_timeout = 1000')
  const sql = fromSqlite(writer, reader)
  return {
    sql,
    nonces: sqliteNonces(sql),
    issuer: sqliteCredentials(sql, { encryptionKey: secrets.signingKeyEncryptionKey }),
    feed: sqlRevocationFeed(sql),
    idempotency: tx => sqliteIdempotency(tx),
    spend: tx => sqliteSpends(tx),
    aliasUsage: sqliteAliasUsage(sql),
    checks: {
      database: async () => {
        await rows(sql, 'select 1')
      },
    },
    migrate: () => migrateAll(sql, migrateModules),
    close: async () => {
      reader.close()
      writer.close()
    },
  }
}
