import { Fault } from '../fault.ts'
import { rows, toText, type SqlDialect, type SqlQueries, type SqlValue } from './sql-client.ts'

/**
 * The database has tables of this namespace that this version of the software neither created nor can work with. `migrate` throws
 * it as the cause of a `Fault` before it writes anything.
 */
export class IncompatibleTables extends Error {
  override readonly name = 'IncompatibleTables'
}

/** Returns the name of the table that records which versions of the tables are there. */
export const migrationTable = (prefix: string): string => `${prefix}migrations`

/** Throws `IncompatibleTables` for a database that cannot store the texts of all languages: each request with other letters would fail. */
export async function assertEncoding(db: SqlQueries): Promise<void> {
  if (db.dialect !== 'postgres') return
  const [other] = await rows(
    db,
    `select current_setting('server_encoding') as encoding where upper(current_setting('server_encoding')) <> 'UTF8'`,
  )
  if (other)
    await rejectTables(db, `has the encoding ${toText(other['encoding'])}: create it with encoding 'UTF8'`)
}

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

const COLUMNS: Readonly<Record<SqlDialect, string>> = {
  postgres: `select cast(attname as text) as name from pg_attribute
    where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`,
  mariadb:
    'select column_name as name from information_schema.columns where table_schema = database() and table_name = $1',
  sqlite: 'select name from pragma_table_info($1)',
}
