import type { SqlDialect } from './sql-client.ts'

/** Names in braces with the same text in every table, and their text on each store. */
const WORDS: Readonly<Record<string, Readonly<Record<SqlDialect, string>>>> = {
  // Ids are compared byte by byte on all: SQLite does so by default. MariaDB needs a length for a key.
  '{id}': {
    postgres: 'text collate "C"',
    sqlite: 'text',
    mariadb: 'varchar(255) character set utf8mb4 collate utf8mb4_nopad_bin',
  },
  '{json}': { postgres: 'jsonb', sqlite: 'text', mariadb: 'longtext' },
  // SQLite numbers rows only in the primary key, so a second key of such a table is a unique constraint.
  '{primary key}': { postgres: 'primary key', sqlite: 'unique', mariadb: 'primary key' },
  '{without rowid}': { postgres: '', sqlite: 'without rowid', mariadb: '' },
  '{reference}': { postgres: '', sqlite: '', mariadb: '' },
}

/** Ends each table on MariaDB: other engines have no transactions, and other collations find texts equal whose bytes differ, `a` and `a ` too. */
const MARIADB_TABLE = 'engine = InnoDB default character set utf8mb4 collate utf8mb4_nopad_bin'

/** Names in braces whose text depends on the table: `statementsOf` replaces them. */
const OF_TABLE = /^\{(?:position|position primary key)\}$/

/** Where the rows of a table are on a database of several machines. No store that we run on itself reads it. */
const DIVIDED = /^\{(?:by|lookup by) [a-z_]+\}$/

/** All names in braces, as an error lists them. */
const NAMES = [
  '{prefix}',
  '{position}',
  '{position primary key}',
  '{by COLUMN}',
  '{lookup by COLUMN}',
  ...Object.keys(WORDS),
]

/** The markers of lines for one store only, and which store it is. */
const ONLY: Readonly<Record<string, SqlDialect>> = { 'postgres only': 'postgres', 'sqlite only': 'sqlite' }

/** One version of a DDL text, for one store. */
export interface DdlVersion {
  readonly statements: readonly string[]
  /** The version that software must know to use tables of this one. */
  readonly least: number
}

/**
 * Splits a DDL text into the statements of its versions, for one store. A blank line ends a statement. Marker lines:
 * - `-- version N` starts a version; what is above the first is a comment on the file;
 * - `-- version N, least M` also says that software must know version M to use the tables from then on: version N drops a column that
 *   software of version M no longer uses, for example. Without `least`, software that could use the version below still can;
 * - `-- postgres only` and `-- sqlite only` start lines for that store, and `-- both` ends them.
 *
 * Names in braces are replaced by the store's own words: `{id}` (text that is compared byte by byte), `{json}`, `{position}` (a
 * column that numbers the rows), `{position primary key}`, `{primary key}` (the key of a table with a `{position}`) and
 * `{without rowid}` (after a table that is read by its primary key). A table can end with a mark that says where its rows are on a database of
 * several machines: `{by COLUMN}` and `{lookup by COLUMN}` divide it by this column, `{reference}` keeps all of it on each machine. The marks
 * have no effect on the statements.
 * `{prefix}` stays, for `migrate`. SQLite stores `bigint` and `smallint` as `integer`. On MariaDB a column `text` becomes `longtext`, and
 * an index is on all rows: its `where` is left out. It numbers no rows, so `{position}` is an error there.
 *
 * Throws a `TypeError` that names the line if versions do not count 1, 2, 3 ..., a marker has no counterpart, or a name in
 * braces is unknown; and one that names the statement if a name in braces is used outside a table.
 */
export function readVersions(text: string, dialect: SqlDialect): DdlVersion[] {
  return versionTexts(text, dialect).map(({ lines, least }) => ({
    least,
    statements: lines
      .join('\n')
      .split(/\n\s*\n/)
      // SQLite refuses to run a statement that is only a comment.
      .filter(statement => statement.replace(/--.*/g, '').trim() !== '')
      .flatMap(statement => statementsOf(statement, dialect)),
  }))
}

/** One version with its lines for one store, which still have the names in braces of `OF_TABLE` and `{prefix}`. */
interface VersionText {
  readonly lines: string[]
  readonly least: number
}

/** Reads the text of each version for one store. */
function versionTexts(text: string, dialect: SqlDialect): VersionText[] {
  const versions: VersionText[] = []
  let only: { readonly marker: string; readonly line: number } | undefined
  const wrong = (line: number, problem: string): never => {
    throw new TypeError(`DDL line ${line}: ${problem}`)
  }
  const endBlock = (): void => {
    if (only) wrong(only.line, `"-- ${only.marker}" must end at a line "-- both" of the same version`)
  }
  const lines = text.split(/\r?\n/)
  for (const [index, content] of lines.entries()) {
    const line = index + 1
    const [, version, marker] = /^-- (?:version (.+)|([\w ]+ only)|both)$/.exec(content) ?? [undefined]
    if (version !== undefined) {
      endBlock()
      const number = versions.length + 1
      const previousLeast = versions.at(-1)?.least ?? 1
      const [, found, least = previousLeast] = /^(\d+)(?:, least (\d+))?$/.exec(version) ?? []
      if (found !== String(number)) wrong(line, `expected "-- version ${number}", got "${content}"`)
      if (Number(least) < previousLeast || Number(least) > number)
        wrong(line, `"least" must be from ${previousLeast} to ${number}, got ${least}`)
      versions.push({ lines: [], least: Number(least) })
    } else if (marker !== undefined) {
      endBlock()
      if (!Object.hasOwn(ONLY, marker))
        wrong(
          line,
          `expected one of ${Object.keys(ONLY)
            .map(name => `"-- ${name}"`)
            .join(', ')}, got "${content}"`,
        )
      only = { marker, line }
    } else if (content === '-- both') {
      if (!only) wrong(line, '"-- both" ends nothing: no "-- postgres only" or "-- sqlite only" is above')
      only = undefined
    } else {
      const written = content.replace(/\{[a-z_ ]+\}/g, name =>
        name === '{prefix}' || OF_TABLE.test(name)
          ? name
          : DIVIDED.test(name)
            ? ''
            : (WORDS[name]?.[dialect] ??
              wrong(line, `${name} is unknown: expected one of ${NAMES.join(', ')}`)),
      )
      if (!only || ONLY[only.marker] === dialect) versions.at(-1)?.lines.push(written)
    }
  }
  endBlock()
  if (versions.length === 0) throw new TypeError('the DDL file must have a line "-- version 1"')
  return versions
}

/**
 * Replaces the names in braces of `OF_TABLE`. On Postgres a `{position}` gets its numbers from a sequence, because a table that is divided
 * into partitions can have no identity column before PostgreSQL 17.
 */
function statementsOf(statement: string, dialect: SqlDialect): string[] {
  const [, condition = '', table = ''] = /^create table (if not exists )?(\S+)/im.exec(statement) ?? []
  const before: string[] = []
  const after: string[] = []
  const text = statement.replace(
    /(\w+) \{position( primary key)?\}/g,
    (words, column: string, key: string | undefined) => {
      if (table === '') throw new TypeError(`DDL: "${words}" must be in a "create table", got ${statement}`)
      if (dialect === 'mariadb')
        throw new TypeError(`DDL: "${words}" is for Postgres and SQLite only, in ${statement}`)
      if (dialect === 'sqlite') return `${column} integer primary key autoincrement`
      const sequence = `${table}_${column}_seq`
      before.push(`create sequence ${condition}${sequence}`)
      after.push(`alter sequence ${sequence} owned by ${table}.${column}`)
      return `${column} bigint${key ?? ''} not null default nextval('${sequence}')`
    },
  )
  return [...before, dialect === 'mariadb' ? forMariaDb(text) : text, ...after]
}

function forMariaDb(statement: string): string {
  if (/^create table /im.test(statement))
    return `${statement.replace(/ text(?=[ ,])/g, ' longtext').replace(/;?\s*$/, '')} ${MARIADB_TABLE}`
  if (/^create unique index .* where /im.test(statement))
    throw new TypeError(`DDL: MariaDB has no unique index on some rows only, in ${statement}`)
  return statement.replace(/^(create index .*?) where [^]*$/im, '$1')
}
