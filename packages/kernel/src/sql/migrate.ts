import { checkedPrefix, DEFAULT_PREFIX } from '../prefix.ts'
import { rows, toInteger, type SqlClient } from './client.ts'

/** The two SQL stores. Statements are shared where they read the same. */
export type SqlDialect = 'postgres' | 'sqlite'

/** A room's tables: a name, and its DDL text per version, oldest first. */
export interface Migration {
  readonly room: string
  readonly versions: readonly string[]
}

/** Splits a `.sql` file into versions (a line `-- version N` starts one). Throws when they are not 1, 2, 3 ... */
export function readVersions(text: string): string[] {
  const [, ...parts] = text.split(/^-- version (\d+)$/m)
  const versions: string[] = []
  for (let i = 0; i < parts.length; i += 2) {
    if (Number(parts[i]) !== versions.length + 1) throw new TypeError('versions must count 1, 2, 3 ...')
    versions.push(parts[i + 1] as string)
  }
  if (versions.length === 0) throw new TypeError('no "-- version 1" line')
  return versions
}

/**
 * Brings a room's tables to their newest version. Repeatable, and safe from many instances at once: one
 * runs it (an advisory lock on Postgres, `BEGIN IMMEDIATE` on SQLite) and the others wait, then find nothing to do.
 * In the DDL, `{prefix}` stands for the table prefix and a blank line ends a statement.
 */
export async function migrate(
  db: SqlClient,
  dialect: SqlDialect,
  migration: Migration,
  prefix: string = DEFAULT_PREFIX,
): Promise<void> {
  const table = `${checkedPrefix(prefix)}migrations`
  await db.transaction(async tx => {
    if (dialect === 'postgres') {
      // A team's pool may bound its statements; a migration takes as long as its tables are large.
      await rows(
        tx,
        "select set_config('statement_timeout', '0', true), set_config('lock_timeout', '0', true)",
      )
      await rows(tx, 'select pg_advisory_xact_lock(hashtextextended($1, 0))', [`${table}.migrate`])
    }
    await rows(
      tx,
      `create table if not exists ${table} (room text not null, version integer not null, primary key (room, version))`,
    )
    const [found] = await rows(
      tx,
      `select coalesce(max(version), 0) as version from ${table} where room = $1`,
      [migration.room],
    )
    const done = toInteger(found?.['version'])
    for (const [index, text] of migration.versions.entries()) {
      if (index < done) continue
      for (const statement of text.replaceAll('{prefix}', prefix).split(/\n\s*\n/)) {
        // A comment that stands alone is no statement; SQLite refuses to run one.
        if (statement.replace(/--.*/g, '').trim() !== '') await rows(tx, statement)
      }
      await rows(tx, `insert into ${table} (room, version) values ($1, $2)`, [migration.room, index + 1])
    }
  })
}
