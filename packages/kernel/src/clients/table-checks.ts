import { Fault } from '../fault.ts'
import { lockTable } from './named-lock.ts'
import { partitionOf } from './partition.ts'
import { rows, toInteger, toText, type SqlDialect, type SqlQueries, type SqlValue } from './sql-client.ts'

/**
 * The database has tables of this namespace that this version of the software neither created nor can work with. `migrate` throws
 * it as the cause of a `Fault` before it writes anything.
 */
export class IncompatibleTables extends Error {
  override readonly name = 'IncompatibleTables'
}

/** Returns the name of the table that records which versions of the tables are there. */
export const migrationTable = (prefix: string): string => `${prefix}migrations`

/**
 * Throws `IncompatibleTables` if the tables were created with other features: hosts of both kinds would not wait for each other's locks.
 * Databases with minimal features have the table of the lock rows.
 */
export async function assertFeatures(
  db: SqlQueries,
  prefix: string,
  tables: ReadonlySet<unknown>,
): Promise<void> {
  const { features = 'all' } = db
  const empty = !tables.has(migrationTable(prefix))
  const found = tables.has(lockTable(prefix)) ? 'minimal' : empty ? features : 'all'
  if (found === features) return
  const remedy = `run with features ${found}, or use a new database`
  await rejectTables(
    db,
    `was created with features ${found}, this software runs with features ${features}: ${remedy}`,
  )
}

/**
 * Throws `IncompatibleTables` if a table is divided into another number of partitions: new tables would differ from those that exist.
 */
export async function assertPartitions(
  tx: SqlQueries,
  partitions: number,
  tables: readonly string[],
): Promise<void> {
  if (tx.dialect !== 'postgres' || tables.length === 0) return
  const found = await rows(tx, PARTITIONS, [JSON.stringify(tables)])
  const other = found.find(row => toInteger(row['partitions']) !== partitions)
  if (!other) return
  const count = toInteger(other['partitions'])
  await rejectTables(
    tx,
    `has the table ${toText(other['name'])} in ${counted(count)}, this software runs with ${counted(partitions)}: ` +
      `set partitions to ${count} (DATABASE_PARTITIONS of a host), or use a new database`,
  )
}

/** Any text shows whether the hash is the same: another hash finds the right one of 64 partitions by chance only. */
const SHOWN = { text: 'which partition?', partitions: 64 }

/**
 * Throws `IncompatibleTables` unless `partitionOf` finds the partition in which the database keeps a text, of the first of these tables:
 * otherwise statements that name partitions would find nothing. Postgres computes it for any number of partitions.
 */
export async function assertHash(
  tx: SqlQueries,
  partitions: number,
  [table]: readonly string[],
): Promise<void> {
  if (tx.dialect !== 'postgres' || partitions === 1 || table === undefined) return
  const { text, partitions: shown } = SHOWN
  const satisfied = 'select satisfies_hash_partition(cast($1 as regclass), $2, $3, cast($4 as text)) as found'
  const [row] = await rows(tx, satisfied, [table, shown, partitionOf(text, shown), text])
  if (row?.['found'] === true) return
  const problem =
    'finds partitions by another hash than PostgreSQL on little-endian machines: use 1 partition'
  await rejectTables(tx, problem)
}

const counted = (partitions: number): string =>
  partitions === 1 ? '1 partition' : `${partitions} partitions`

/** Throws that a database cannot be used. */
export async function rejectTables(db: SqlQueries, problem: string): Promise<never> {
  const [row] = await rows(db, DATABASE[db.dialect])
  const cause = new IncompatibleTables(`database ${toText(row?.['name'])} ${problem}`)
  throw new Fault('ERR_STORE_UNAVAILABLE', 'the database cannot be used', { cause })
}

/** Returns the tables and views of the schema in which `create table` creates a table. */
export function tableNames(db: SqlQueries): Promise<ReadonlySet<unknown>> {
  return names(db, TABLES[db.dialect])
}

/** Returns the columns of a table. */
export function columnNames(db: SqlQueries, table: string): Promise<ReadonlySet<unknown>> {
  return names(db, COLUMNS[db.dialect], [table])
}

async function names(
  tx: SqlQueries,
  text: string,
  values?: readonly SqlValue[],
): Promise<ReadonlySet<unknown>> {
  return new Set((await rows(tx, text, values)).map(row => row['name']))
}

/** The name of the connected database, or its file. Here and below Postgres's type `name` is cast, which Prisma cannot read. */
const DATABASE: Readonly<Record<SqlDialect, string>> = {
  postgres: 'select cast(current_database() as text) as name',
  mariadb: 'select database() as name',
  sqlite:
    "select case file when '' then 'in memory' else file end as name from pragma_database_list where name = 'main'",
}

/** Queries the tables and views of the schema in which `create table` creates a table. */
const TABLES: Readonly<Record<SqlDialect, string>> = {
  postgres: `select cast(c.relname as text) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = current_schema() and c.relkind in ('r', 'p', 'v', 'm', 'f')`,
  mariadb: 'select table_name as name from information_schema.tables where table_schema = database()',
  sqlite: "select name from sqlite_master where type in ('table', 'view')",
}

/** Counts the partitions of the tables of a JSON list that exist. A table that is not divided counts as one. */
const PARTITIONS = `select cast(c.relname as text) as name,
    case c.relkind when 'p' then (select count(*) from pg_inherits i where i.inhparent = c.oid) else 1 end as partitions
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = current_schema() and c.relkind in ('r', 'p')
    and c.relname in (select jsonb_array_elements_text($1::jsonb)) order by c.relname`

const COLUMNS: Readonly<Record<SqlDialect, string>> = {
  postgres: `select cast(attname as text) as name from pg_attribute
    where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`,
  mariadb:
    'select column_name as name from information_schema.columns where table_schema = database() and table_name = $1',
  sqlite: 'select name from pragma_table_info($1)',
}
