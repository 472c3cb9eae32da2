import { checkedPrefix, DEFAULT_PREFIX } from '../table-prefix.ts'
import { rows, toInteger, type SqlClient } from './sql-client.ts'

/** The two SQL stores. */
export type SqlDialect = 'postgres' | 'sqlite'

/**
 * Splits a `.sql` file into versions; a line `-- version N` starts one. Throws a `TypeError` unless they count
 * 1, 2, 3 ...
 */
export function readVersions(text: string): string[] {
  const [, ...parts] = text.split(/^-- version (\d+)$/m)
  const versions: string[] = []
  for (let i = 0; i < parts.length; i += 2) {
    const expected = versions.length + 1
    if (Number(parts[i]) !== expected) {
      throw new TypeError(`expected the line "-- version ${expected}", got "-- version ${parts[i]}"`)
    }
    versions.push(parts[i + 1] as string)
  }
  if (versions.length === 0) throw new TypeError('the DDL file must have a line "-- version 1"')
  return versions
}

/**
 * Creates the tables of a namespace or updates them to the newest version. `versions` has the DDL text of each version,
 * oldest first. Each namespace counts its own versions, in `{prefix}migrations`. Repeatable. When several instances call it
 * at once, one runs it (an advisory lock on Postgres, `BEGIN IMMEDIATE` on SQLite); the others wait and find nothing to
 * do. In the DDL, `{prefix}` is replaced by the table prefix, and a blank line ends a statement.
 */
export async function migrate(
  db: SqlClient,
  dialect: SqlDialect,
  { namespace, versions }: { readonly namespace: string; readonly versions: readonly string[] },
  prefix: string = DEFAULT_PREFIX,
): Promise<void> {
  const table = `${checkedPrefix(prefix)}migrations`
  await db.transaction(async tx => {
    if (dialect === 'postgres') {
      // The pool may limit its statements, but a migration takes as long as its tables are large.
      await rows(
        tx,
        "select set_config('statement_timeout', '0', true), set_config('lock_timeout', '0', true)",
      )
      await rows(tx, 'select pg_advisory_xact_lock(hashtextextended($1, 0))', [`${table}.migrate`])
    }
    // The column `room` has the namespace.
    await rows(
      tx,
      `create table if not exists ${table} (room text not null, version integer not null, primary key (room, version))`,
    )
    const [current] = await rows(
      tx,
      `select coalesce(max(version), 0) as version from ${table} where room = $1`,
      [namespace],
    )
    const done = toInteger(current?.['version'])
    for (const [index, text] of versions.entries()) {
      if (index < done) continue
      for (const statement of text.replaceAll('{prefix}', prefix).split(/\n\s*\n/)) {
        // SQLite refuses to run a statement that is only a comment.
        if (statement.replace(/--.*/g, '').trim() !== '') await rows(tx, statement)
      }
      await rows(tx, `insert into ${table} (room, version) values ($1, $2)`, [namespace, index + 1])
    }
  })
}
