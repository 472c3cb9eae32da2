import { Fault } from '../fault.ts'
import type { DdlVersion } from './ddl.ts'
import { createMigrationTable, recordedVersion, recordVersion } from './recorded-versions.ts'
import { rows, toInteger, type SqlQueries } from './sql-client.ts'
import { migrationTable, tableNames } from './table-checks.ts'

/** Every transaction of a MariaDB client begins with it. Without it, the client refuses to commit. */
export const SAVEPOINT = 'gatewright_transaction'

/** For how long it waits for another instance, in seconds. */
const PATIENCE_SECONDS = 86_400

/** The name of the lock: of this database, because the locks are those of the whole server. */
const LOCK_NAME = "sha1(concat(database(), ' ', $1))"

/** Error numbers of a change that has been made: a table, column or index exists, or is gone. */
const MADE_BEFORE = new Set<unknown>([1050, 1060, 1061, 1091])

/** What is migrated. */
interface Target {
  readonly prefix: string
  readonly namespace: string
  readonly versions: readonly DdlVersion[]
}

/**
 * Runs the next version that is missing, in a transaction of a MariaDB client. Returns whether there are further ones. Each statement that changes a
 * table commits, so neither locks of rows nor the transaction last: the lock is one of the session, and a version is recorded as begun before
 * its first statement. If it was begun before, changes that exist already are left as they are.
 */
export async function migrateOnMariaDb(tx: SqlQueries, target: Target): Promise<boolean> {
  const lock = `${target.prefix}migrate`
  const [row] = await rows(tx, `select get_lock(${LOCK_NAME}, $2) as locked`, [lock, PATIENCE_SECONDS])
  if (toInteger(row?.['locked'] ?? 0) !== 1)
    throw new Fault('ERR_STORE_UNAVAILABLE', 'the database cannot be used', {
      cause: new Error(`another instance has migrated the tables for ${PATIENCE_SECONDS} s`),
    })
  try {
    const hasMore = await runNext(tx, target)
    // The statements have ended the transaction of the client.
    await rows(tx, 'commit')
    await rows(tx, `savepoint ${SAVEPOINT}`)
    return hasMore
  } finally {
    await rows(tx, `do release_lock(${LOCK_NAME})`, [lock])
  }
}

async function runNext(tx: SqlQueries, { prefix, namespace, versions }: Target): Promise<boolean> {
  await createMigrationTable(tx, prefix)
  const begunNamespace = `${namespace} (begun)`
  const begun = await recordedNumber(tx, prefix, begunNamespace)
  const tables = await tableNames(tx)
  const done = await recordedVersion(tx, tables, { prefix, namespace, versions, begun: begun > 0 })
  const next = versions[done]
  if (next === undefined) return false
  const version = done + 1
  const wasInterrupted = begun >= version
  if (!wasInterrupted)
    await recordVersion(tx, prefix, { namespace: begunNamespace, version, least: next.least })
  await rows(tx, 'commit')
  for (const statement of next.statements) {
    try {
      await rows(tx, statement)
    } catch (error) {
      if (!wasInterrupted || !wasMadeBefore(error)) throw error
    }
  }
  await recordVersion(tx, prefix, { namespace, version, least: next.least })
  return version < versions.length
}

async function recordedNumber(tx: SqlQueries, prefix: string, namespace: string): Promise<number> {
  const text = `select coalesce(max(version), 0) as version from ${migrationTable(prefix)} where namespace = $1`
  const [row] = await rows(tx, text, [namespace])
  return toInteger(row?.['version'])
}

function wasMadeBefore(error: unknown): boolean {
  const { cause } = error as { readonly cause?: { readonly errno?: unknown } }
  return MADE_BEFORE.has(cause?.errno)
}
