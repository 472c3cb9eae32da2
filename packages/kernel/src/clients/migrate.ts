import { checkOptions } from '../options.ts'
import { checkedPrefix, DEFAULT_PREFIX } from '../table-prefix.ts'
import { readVersions, type DdlVersion } from './ddl.ts'
import { distributeAdded, readMarks } from './distribute.ts'
import { createLockTable, lockName, lockTableMarks } from './named-lock.ts'
import { retriedOnLocks } from './migration-locks.ts'
import { migrateOnMariaDb } from './mariadb-migration.ts'
import { migrationTableMarks, noteKnown, recordVersion, recordedVersion } from './recorded-versions.ts'
import { rows, type PlannedVersion, type SqlClient, type SqlQueries } from './sql-client.ts'
import { assertEncoding, tableNames } from './table-checks.ts'

/** What `migrate` creates or updates, and how long it tries. */
export interface MigrateOptions {
  /** Whose versions are counted. */
  readonly namespace: string
  /** One text for all stores. */
  readonly ddl: string
  /**
   * For how many seconds it tries again while other transactions use the tables that a version changes, 0 to 86 400, default 120.
   * Each try waits for one second at most, because statements on the table wait behind it.
   */
  readonly patienceSeconds?: number
}

/**
 * Creates the tables of a namespace, or updates them to the newest version. `ddl` is one text for both stores: a line
 * `-- version N` starts each version, oldest first, and a blank line ends a statement. The README lists the names in braces
 * that each store replaces. Each namespace counts its own versions, in `{prefix}migrations`. Repeatable. When several instances
 * call it simultaneously, one runs it (the lock of a row of `{prefix}lock_rows` on Postgres; `BEGIN IMMEDIATE` on SQLite; `get_lock` on MariaDB); the others wait and find nothing to do. Each version is a transaction of its own, so the versions before one that fails stay.
 * On Citus it distributes tables that a version adds, by their marks, once `gatewright distribute` or its like has distributed `{prefix}lock_rows`.
 * MariaDB commits each statement: a version that was interrupted there is run again, and what exists already is left as it is.
 *
 * Software that knows fewer versions goes on beside newer software, unless a version says `least`: see `docs/upgrades.md`. Then it is rejected.
 *
 * Rejects a database of Postgres whose encoding is not UTF8, tables that need newer software, and tables of the DDL that exist without a recorded version, before it writes anything: fault `ERR_STORE_UNAVAILABLE`, caused by `IncompatibleTables`. Other faults: `ERR_STORE_*`.
 * Throws a `TypeError` that names the line of a DDL text that it cannot read.
 */
export async function migrate(
  db: SqlClient,
  options: MigrateOptions,
  prefix: string = DEFAULT_PREFIX,
): Promise<void> {
  const { namespace, ddl, patienceSeconds } = checkOptions('migrate', options, {
    namespace: true,
    ddl: true,
    patienceSeconds: { min: 0, max: 86_400, default: 120 },
  })
  checkedPrefix(prefix)
  const withPrefix = (text: string): string => text.replaceAll('{prefix}', prefix)
  const versions = readVersions(ddl, db.dialect).map(({ statements, least }) => ({
    least,
    statements: statements.map(withPrefix),
  }))
  noteKnown(namespace, versions.length)
  const marks = readMarks(ddl, prefix)
  if (db.listMarks) {
    db.listMarks([...marks, ...migrationTableMarks(prefix), ...lockTableMarks(prefix)])
    return
  }
  const target: MigrationTarget = { db, prefix, namespace, versions }
  await assertEncoding(db)
  if (db.planMigration) {
    await plan(target, db.planMigration)
    return
  }
  if (db.dialect !== 'sqlite') await createLockTable(db, prefix)
  const step = (): Promise<boolean> => retriedOnLocks(patienceSeconds, () => migrateOnce(target))
  while (await step());
  await distributeAdded(db, [...migrationTableMarks(prefix), ...marks], lockTableMarks(prefix))
}

/** The tables of a namespace, and what they shall become. */
interface MigrationTarget {
  readonly db: SqlClient
  readonly prefix: string
  readonly namespace: string
  readonly versions: readonly DdlVersion[]
}

/** Passes each version that is missing to `planMigration`. Writes nothing. */
async function plan(
  { db, prefix, namespace, versions }: MigrationTarget,
  planMigration: (version: PlannedVersion) => void,
): Promise<void> {
  const tables = await tableNames(db)
  const done = await recordedVersion(db, tables, { prefix, namespace, versions })
  for (const [index, version] of versions.entries())
    if (index >= done) planMigration({ namespace, version: index + 1, ...version })
}

/** Runs the next version that is missing, in one transaction. Returns whether there are further ones. */
function migrateOnce(target: MigrationTarget): Promise<boolean> {
  const { db, prefix, namespace, versions } = target
  if (db.dialect === 'mariadb') return db.transaction(tx => migrateOnMariaDb(tx, target))
  return db.transaction(async tx => {
    // Another instance may migrate large tables, for as long as that takes.
    await setLimits(tx, '0')
    await lockName(tx, prefix, { kind: 'migrate', id: '' })
    const tables = await tableNames(tx)
    const done = await recordedVersion(tx, tables, { prefix, namespace, versions })
    const next = versions[done]
    if (next === undefined) return false
    await setLimits(tx, LOCK_TIMEOUT)
    for (const statement of next.statements) await rows(tx, statement)
    await recordVersion(tx, prefix, { namespace, version: done + 1, least: next.least })
    return done + 1 < versions.length
  })
}

/** How long a statement waits for the lock of a table. All later statements on the table wait behind it. */
const LOCK_TIMEOUT = '1s'

/** Sets how long statements of a transaction wait for locks, and lifts the limit of their time: a change of large tables takes long. */
async function setLimits(tx: SqlQueries, lockTimeout: string): Promise<void> {
  if (tx.dialect === 'sqlite') return
  await rows(tx, "select set_config('statement_timeout', '0', true), set_config('lock_timeout', $1, true)", [
    lockTimeout,
  ])
}
