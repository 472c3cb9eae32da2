import { Fault } from '../fault.ts'
import { checkedPrefix, DEFAULT_PREFIX } from '../table-prefix.ts'
import { dividedTables, readVersions } from './ddl.ts'
import { createLockTable, lockName, lockTable } from './named-lock.ts'
import {
  hasAllFeatures,
  rows,
  toInteger,
  toText,
  type SqlClient,
  type SqlDialect,
  type SqlQueries,
  type SqlValue,
} from './sql-client.ts'

/**
 * The database has tables of this namespace that this version of the software neither created nor can update. `migrate` throws
 * it as the cause of a `Fault` before it writes anything.
 */
export class IncompatibleTables extends Error {
  override readonly name = 'IncompatibleTables'
}

/**
 * Creates the tables of a namespace, or updates them to the newest version. `ddl` is one text for both stores: a line
 * `-- version N` starts each version, oldest first, and a blank line ends a statement. The README lists the names in braces
 * that each store replaces. A table that ends with `{by COLUMN}` is divided into as many partitions as the client says
 * (`partitions` of `fromPgPool`) when it is created, and keeps them. Each namespace counts its own versions, in `{prefix}migrations`. Repeatable. When several instances
 * call it simultaneously, one runs it (an advisory lock on Postgres, or the lock of a row with `features: 'minimal'`; `BEGIN IMMEDIATE`
 * on SQLite); the others wait and find nothing to do.
 *
 * Rejects tables that are newer than the DDL, tables of the DDL that exist without a recorded version, tables that were created with
 * other `features` or are divided into another number of partitions, and a database on which advisory locks have no effect, before it writes anything: fault `ERR_STORE_UNAVAILABLE`, caused by `IncompatibleTables`. Other faults: `ERR_STORE_*`; nothing is kept then.
 * Throws a `TypeError` that names the line of a DDL text that it cannot read.
 */
export async function migrate(
  db: SqlClient,
  { namespace, ddl }: { readonly namespace: string; readonly ddl: string },
  prefix: string = DEFAULT_PREFIX,
): Promise<void> {
  const table = migrationTable(checkedPrefix(prefix))
  const withPrefix = (text: string): string => text.replaceAll('{prefix}', prefix)
  const versions = readVersions(ddl, db).map(statements => statements.map(withPrefix))
  knownVersions.set(namespace, versions.length)
  if (db.features === 'minimal') {
    await checkFeatures(db, prefix, await names(db, TABLES.postgres))
    await createLockTable(db, prefix)
  }
  await db.transaction(async tx => {
    if (db.dialect === 'postgres') {
      // The pool may limit the time of a statement, but a migration of large tables takes longer.
      await rows(
        tx,
        "select set_config('statement_timeout', '0', true), set_config('lock_timeout', '0', true)",
      )
      await lockName(tx, prefix, { kind: 'migrate', id: '' })
    }
    const tables = await names(tx, TABLES[tx.dialect])
    if (hasAllFeatures(tx)) {
      await checkFeatures(tx, prefix, tables)
      await assertLocked(tx)
    }
    const done = await checkedVersion(tx, tables, { table, namespace, versions })
    if (done > 0) await checkPartitions(tx, db.partitions ?? 1, dividedTables(ddl).map(withPrefix))
    if (done === versions.length) return
    await rows(
      tx,
      `create table if not exists ${table} (namespace text not null, version integer not null, primary key (namespace, version))`,
    )
    for (const [index, statements] of versions.entries()) {
      if (index < done) continue
      for (const statement of statements) await rows(tx, statement)
      await rows(tx, `insert into ${table} (namespace, version) values ($1, $2)`, [namespace, index + 1])
    }
  })
}

/** The newest version that this software knows of each namespace that it has migrated, whatever the database. */
const knownVersions = new Map<string, number>()

/**
 * Returns the namespaces whose tables newer software has migrated: those with a recorded version above the newest one of the DDL that
 * `migrate` ran with in this process. Namespaces that it did not migrate are not compared. Faults: `ERR_STORE_*`.
 */
export async function newerNamespaces(
  db: SqlQueries,
  prefix: string = DEFAULT_PREFIX,
): Promise<readonly string[]> {
  const table = migrationTable(checkedPrefix(prefix))
  const recorded = await rows(
    db,
    `select namespace, max(version) as version from ${table} group by namespace`,
  )
  return recorded
    .filter(
      ({ namespace, version }) => toInteger(version) > (knownVersions.get(toText(namespace)) ?? Infinity),
    )
    .map(({ namespace }) => toText(namespace))
}

const migrationTable = (prefix: string): string => `${prefix}migrations`

/**
 * Throws `IncompatibleTables` if the tables were created with other features: hosts of both kinds would not wait for each other's locks.
 * Databases with minimal features have the table of the lock rows.
 */
async function checkFeatures(db: SqlQueries, prefix: string, tables: ReadonlySet<unknown>): Promise<void> {
  const { features = 'all' } = db
  const empty = !tables.has(migrationTable(prefix))
  const found = tables.has(lockTable(prefix)) ? 'minimal' : empty ? features : 'all'
  if (found === features) return
  const remedy = `run with features ${found}, or use a new database`
  await reject(
    db,
    `was created with features ${found}, this software runs with features ${features}: ${remedy}`,
  )
}

/**
 * Throws `IncompatibleTables` if a table is divided into another number of partitions: new tables would differ from those that exist.
 */
async function checkPartitions(tx: SqlQueries, partitions: number, tables: readonly string[]): Promise<void> {
  if (tx.dialect !== 'postgres' || tables.length === 0) return
  const found = await rows(tx, PARTITIONS, [JSON.stringify(tables)])
  const other = found.find(row => toInteger(row['partitions']) !== partitions)
  if (!other) return
  const count = toInteger(other['partitions'])
  await reject(
    tx,
    `has the table ${toText(other['name'])} in ${counted(count)}, this software runs with ${counted(partitions)}: ` +
      `set partitions to ${count} (DATABASE_PARTITIONS of a host), or use a new database`,
  )
}

const counted = (partitions: number): string =>
  partitions === 1 ? '1 partition' : `${partitions} partitions`

/**
 * Throws unless this transaction has an advisory lock. Some databases have the functions for compatibility, but they lock nothing, so
 * that money could be spent twice.
 */
async function assertLocked(tx: SqlQueries): Promise<void> {
  const held = await rows(
    tx,
    "select 1 from pg_locks where locktype = 'advisory' and pid = pg_backend_pid() and granted",
  )
  if (held.length > 0) return
  const cause = new Error("advisory locks have no effect on this database: use features 'minimal'")
  throw new Fault('ERR_STORE_UNAVAILABLE', 'the database cannot be used', { cause })
}

/** Throws that a database cannot be used. */
async function reject(db: SqlQueries, problem: string): Promise<never> {
  const [row] = await rows(db, DATABASE[db.dialect])
  const cause = new IncompatibleTables(`database ${toText(row?.['name'])} ${problem}`)
  throw new Fault('ERR_STORE_UNAVAILABLE', 'the database cannot be used', { cause })
}

/** What `migrate` creates. */
interface NamespaceVersions {
  /** The table of recorded versions. */
  readonly table: string
  readonly namespace: string
  readonly versions: ReadonlyArray<readonly string[]>
}

/**
 * Returns the recorded version of a namespace, 0 for none. Throws `IncompatibleTables` if `versions` neither created the tables
 * nor can update them.
 */
async function checkedVersion(
  tx: SqlQueries,
  tables: ReadonlySet<unknown>,
  { table, namespace, versions }: NamespaceVersions,
): Promise<number> {
  const known = `this software knows version ${versions.length} of namespace ${namespace}`
  const rejectTables = (problem: string, remedy: string): Promise<never> =>
    reject(tx, `${problem}, ${known}: ${remedy}`)
  const unreleased = 'an unreleased build made it, use a new database'
  let done = 0
  if (tables.has(table)) {
    if (!(await names(tx, COLUMNS[tx.dialect], [table])).has('namespace'))
      await rejectTables(`has a table ${table} without the column namespace`, unreleased)
    const recorded = `select coalesce(max(version), 0) as version from ${table} where namespace = $1`
    const [row] = await rows(tx, recorded, [namespace])
    done = toInteger(row?.['version'])
  }
  if (done > versions.length)
    await rejectTables(
      `has version ${done}`,
      'start the newer software that made it; if an unreleased build made it, use a new database',
    )
  if (done > 0) return done
  // A version with `if not exists` accepts an existing table.
  for (const [, name = ''] of versions
    .flat()
    .join('\n')
    .matchAll(/^create table (?!if )(\w+)/gim))
    if (tables.has(name)) await rejectTables(`has a table ${name} without a recorded version`, unreleased)
  return 0
}

async function names(
  tx: SqlQueries,
  text: string,
  values?: readonly SqlValue[],
): Promise<ReadonlySet<unknown>> {
  return new Set((await rows(tx, text, values)).map(row => row['name']))
}

/** The name of the connected database, or its file. */
const DATABASE: Readonly<Record<SqlDialect, string>> = {
  postgres: 'select current_database() as name',
  sqlite:
    "select case file when '' then 'in memory' else file end as name from pragma_database_list where name = 'main'",
}

/** Queries the tables and views of the schema in which `create table` creates a table. */
const TABLES: Readonly<Record<SqlDialect, string>> = {
  postgres: `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = current_schema() and c.relkind in ('r', 'p', 'v', 'm', 'f')`,
  sqlite: "select name from sqlite_master where type in ('table', 'view')",
}

/** Counts the partitions of the tables of a JSON list that exist. A table that is not divided counts as one. */
const PARTITIONS = `select c.relname as name,
    case c.relkind when 'p' then (select count(*) from pg_inherits i where i.inhparent = c.oid) else 1 end as partitions
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = current_schema() and c.relkind in ('r', 'p')
    and c.relname in (select jsonb_array_elements_text($1::jsonb)) order by c.relname`

const COLUMNS: Readonly<Record<SqlDialect, string>> = {
  postgres: `select attname as name from pg_attribute
    where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`,
  sqlite: 'select name from pragma_table_info($1)',
}
