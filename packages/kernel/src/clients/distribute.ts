import { isCitus } from './due-rows.ts'
import { rows, toText, type SqlClient, type SqlQueries, type TableMark } from './sql-client.ts'

/** How a table is distributed. */
export interface Placement extends TableMark {
  /** Whether others write meanwhile. Citus allows that for no table that refers to another, or is referred to. Default: they wait. */
  readonly concurrently?: boolean
}

/** Reads the mark of each table of a DDL text, in its order. */
export function readMarks(ddl: string, prefix: string): TableMark[] {
  const found = ddl.matchAll(
    /^create table (?:if not exists )?\{prefix\}(\w+) \((?:.*|\n[^]*?^)\)([^)]*?);?$/gm,
  )
  return [...found].flatMap(([, name = '', end = '']) => {
    const [mark, column] = /\{(?:(?:lookup )?by (\w+)|reference)\}/.exec(end) ?? []
    if (mark === undefined) return []
    return [{ table: prefix + name, ...(column === undefined ? {} : { column }) }]
  })
}

/** Returns the statement that puts the rows of a table on the machines of Citus. */
export function distributing({ table, column, concurrently = false }: Placement): string {
  return column === undefined
    ? `select create_reference_table('${table}')`
    : `select create_distributed_table${concurrently ? '_concurrently' : ''}('${table}', '${column}')`
}

/** Of marked tables, returns those that are not distributed yet, in their order. The database must be Citus. Faults: `ERR_STORE_*`. */
export async function undistributed(
  db: SqlQueries,
  marks: readonly TableMark[],
): Promise<readonly TableMark[]> {
  const found = await rows(
    db,
    `select cast(c.relname as text) as name from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
      where c.relnamespace = current_schema()::regnamespace`,
  )
  const done = new Set(found.map(row => toText(row['name'])))
  return marks.filter(({ table }) => !done.has(table))
}

/**
 * Distributes a table. It is copied in one transaction. Nothing happens if another connection distributes it meanwhile. Faults: `ERR_STORE_*`.
 */
export async function distribute(db: SqlClient, placement: Placement): Promise<void> {
  try {
    await rows(db, distributing(placement))
  } catch (error) {
    if ((await undistributed(db, [placement])).length > 0) throw error
  }
}

/**
 * After a migration: distributes tables that it has added, if the table of locks is distributed, which `gatewright distribute` does last. So it
 * copies no table that was in use before. Faults: `ERR_STORE_*`.
 */
export async function distributeAdded(
  db: SqlClient,
  marks: readonly TableMark[],
  lockTable: readonly TableMark[],
): Promise<void> {
  if (!(await isCitus(db)) || (await undistributed(db, lockTable)).length > 0) return
  for (const mark of await undistributed(db, marks)) await distribute(db, mark)
}
