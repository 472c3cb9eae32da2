import type { SqlClient } from '@gatewright/kernel/sql'
import type { SqlDialect } from '@gatewright/kernel/internal/sql'
import { migrateHost } from '#packages/reference-host/dist/product/migrate.js'
import root, { type Test } from 'tap'
import { openKeptPostgres } from './kept-postgres.ts'
import { openSqlite } from '../stores.ts'

/** The tables of a host on one database. */
export interface HostTables {
  readonly dialect: Exclude<SqlDialect, 'mariadb'>
  /** Four connections of Postgres; the one writer of an embedded SQLite. */
  readonly dbs: readonly [SqlClient, ...SqlClient[]]
}

/** Runs a test on both databases, each with empty tables of the host and what `prepare` adds. It leaves the tables themselves as they are. */
export function onBothDatabases(
  title: string,
  run: (t: Test, tables: HostTables) => Promise<void>,
  prepare: (db: SqlClient, dialect: SqlDialect) => Promise<void> = async () => {},
): void {
  for (const dialect of ['postgres', 'sqlite'] as const) {
    void root.test(`${dialect}: ${title}`, async t => {
      const open = dialect === 'postgres' ? openKeptPostgres : openSqlite
      const { connections, close } = await open(dialect === 'postgres' ? 4 : 1, migrateHost)
      t.teardown(close)
      const dbs = connections as unknown as HostTables['dbs']
      await prepare(dbs[0], dialect)
      await run(t, { dialect, dbs })
    })
  }
}
