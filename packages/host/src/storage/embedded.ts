import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { fromSqlite, type SqlQueries } from '@gatewright/kernel/sql'
import { sqliteAliasUsage } from '@gatewright/legacy-alias-router/sqlite'
import type { ApprovalStorage } from '@gatewright/scope-guard'
import { sqliteApprovals, sqliteSpends, sqlRevocationFeed } from '@gatewright/scope-guard/sqlite'
import { sqliteCredentials } from '@gatewright/session-issuer/sqlite'
import { sqliteNonces } from '@gatewright/signature-verifier/sqlite'
import Database from 'libsql'
import type { Backend, DatabaseOptions } from './backend.ts'
import { withdrawApprovals } from '../records/approvals.ts'
import { migrateAll } from './migrate-all.ts'
import type { Secrets } from './secrets.ts'

/** With less room than this the host is not ready. The journal of SQLite grows to about 4 MB, and more in a long read. */
const LEAST_FREE_BYTES = 16 * 2 ** 20

/**
 * Pages that the writer keeps in memory. A payment changes about 40; with the usual 2 MiB it read a third of them again, and wrote what a savepoint
 * may have to restore to a temporary file (npm run bench -- floor).
 */
const WRITER_CACHE_KIB = 16 * 1024

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
  const writer = connect(
    `pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on;
      pragma temp_store = memory; pragma cache_size = -${WRITER_CACHE_KIB}`,
  )
  const reader = connect('pragma query_only = on; pragma busy_timeout = 1000')
  const sql = fromSqlite(writer, reader)
  const approvals = (tx: SqlQueries): ApprovalStorage => sqliteApprovals(tx)
  return {
    sql,
    nonces: sqliteNonces(sql),
    issuer: sqliteCredentials(sql, {
      encryptionKey: secrets.signingKeyEncryptionKey,
      withinCommit: withdrawApprovals(approvals),
    }),
    feed: sqlRevocationFeed(sql),
    idempotency: tx => sqliteIdempotency(tx),
    spend: tx => sqliteSpends(tx),
    approvals,
    aliasUsage: sqliteAliasUsage(sql),
    checks: {},
    assertRoom: () => assertRoom(dataDir),
    migrate: plan => migrateAll(sql, migrateModules, plan),
    close: async () => {
      reader.close()
      writer.close()
    },
  }
}

/** Throws when the folder is nearly full: SQLite may still have room in its journal for a heartbeat, and none for a payment. */
async function assertRoom(dataDir: string): Promise<void> {
  const { bavail, bsize } = await statfs(dataDir)
  const free = bavail * bsize
  if (free < LEAST_FREE_BYTES)
    throw new Error(
      `DATA_DIR has ${Math.floor(free / 2 ** 20)} MiB left, ${LEAST_FREE_BYTES / 2 ** 20} are needed`,
    )
}
