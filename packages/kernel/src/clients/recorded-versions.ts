import { DEFAULT_PREFIX } from '../table-prefix.ts'
import { readVersions, type DdlVersion } from './ddl.ts'
import { readMarks } from './distribute.ts'
import { rows, toInteger, toText, type SqlQueries, type TableMark } from './sql-client.ts'
import { columnNames, migrationTable, rejectTables } from './table-checks.ts'

/** The newest version that this software knows of each namespace that it has migrated, whatever the database. */
const knownVersions = new Map<string, number>()

/** Notes the newest version that this software knows of a namespace. */
export function noteKnown(namespace: string, version: number): void {
  knownVersions.set(namespace, version)
}

/** Tables that need newer software. */
export interface NewerTables {
  readonly namespace: string
  /** The version that software must know. */
  readonly least: number
  /** The newest version that this software knows. */
  readonly known: number
}

/**
 * Returns the namespaces whose tables this process must no longer use: those with a version that needs software which knows more
 * versions than the DDL that `migrate` ran with in this process. Namespaces that it did not migrate are not compared. Faults: `ERR_STORE_*`.
 */
export async function newerTables(db: SqlQueries): Promise<readonly NewerTables[]> {
  const table = migrationTable(DEFAULT_PREFIX)
  const recorded = await rows(
    db,
    `select namespace, max(least_version) as least from ${table} group by namespace order by namespace`,
  )
  return recorded
    .map(row => {
      const namespace = toText(row['namespace'])
      return { namespace, least: toInteger(row['least']), known: knownVersions.get(namespace) ?? Infinity }
    })
    .filter(({ least, known }) => least > known)
}

/** Where the versions of a namespace are recorded, and which ones this software knows. */
interface KnownVersions {
  readonly prefix: string
  readonly namespace: string
  readonly versions: readonly DdlVersion[]
  /** Whether a version was begun that is not recorded, so that some of its tables may exist. Default false. */
  readonly begun?: boolean
}

/**
 * Returns the recorded version of a namespace, 0 for none. Throws `IncompatibleTables` if `versions` neither created the tables
 * nor can work with them.
 */
export async function recordedVersion(
  db: SqlQueries,
  tables: ReadonlySet<unknown>,
  { prefix, namespace, versions, begun = false }: KnownVersions,
): Promise<number> {
  const table = migrationTable(prefix)
  const known = `this software knows version ${versions.length} of namespace ${namespace}`
  const reject = (problem: string, remedy: string): Promise<never> =>
    rejectTables(db, `${problem}, ${known}: ${remedy}`)
  const unreleased = 'an unreleased build made it, use a new database'
  let done = 0
  let least = 0
  if (tables.has(table)) {
    const columns = await columnNames(db, table)
    for (const column of ['namespace', 'least_version'])
      if (!columns.has(column)) await reject(`has a table ${table} without the column ${column}`, unreleased)
    const recorded = `select coalesce(max(version), 0) as version, coalesce(max(least_version), 0) as least
      from ${table} where namespace = $1`
    const [row] = await rows(db, recorded, [namespace])
    done = toInteger(row?.['version'])
    least = toInteger(row?.['least'])
  }
  if (least > versions.length)
    await reject(
      `has version ${done}, which needs software that knows version ${least}`,
      'start the newer software that made it; if an unreleased build made it, use a new database',
    )
  if (done > 0 || begun) return done
  // A version with `if not exists` accepts an existing table.
  for (const [, name = ''] of versions
    .flatMap(({ statements }) => statements)
    .join('\n')
    .matchAll(/^create table (?!if )(\w+)/gim))
    if (tables.has(name)) await reject(`has a table ${name} without a recorded version`, unreleased)
  return 0
}

const DDL = `-- version 1
create table if not exists {prefix}migrations (
  namespace {id} not null,
  version integer not null,
  least_version integer not null,
  primary key (namespace, version)
) {reference};
`

/** Where the rows of the table that records the versions are. */
export const migrationTableMarks = (prefix: string): readonly TableMark[] => readMarks(DDL, prefix)

/** Creates the table that records the versions. */
export async function createMigrationTable(tx: SqlQueries, prefix: string): Promise<void> {
  for (const text of readVersions(DDL, tx.dialect).flatMap(({ statements }) => statements))
    await rows(tx, text.replaceAll('{prefix}', prefix))
}

/** Records that the tables of a namespace have a version. */
export async function recordVersion(
  tx: SqlQueries,
  prefix: string,
  {
    namespace,
    version,
    least,
  }: { readonly namespace: string; readonly version: number; readonly least: number },
): Promise<void> {
  await createMigrationTable(tx, prefix)
  await rows(
    tx,
    `insert into ${migrationTable(prefix)} (namespace, version, least_version) values ($1, $2, $3)`,
    [namespace, version, least],
  )
}
