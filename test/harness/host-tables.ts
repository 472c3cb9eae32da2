import type { SqlClient } from '@gatewright/kernel/sql'
import type { SqlDialect } from '@gatewright/kernel/internal/sql'
import { migrateHost } from '@gatewright/reference-host/internal'
import root, { type Test } from 'tap'
import { openPostgres, openSqlite } from './stores.ts'

/** The tables of a host on one database. */
export interface HostTables {
  readonly dialect: SqlDialect
  /** Four connections of Postgres; the one writer of an embedded SQLite. */
  readonly dbs: readonly [SqlClient, ...SqlClient[]]
}

/** Runs a test on both databases, each with fresh tables of the host and what `prepare` adds. */
export function onBothDatabases(
  title: string,
  run: (t: Test, tables: HostTables) => Promise<void>,
  prepare: (db: SqlClient, dialect: SqlDialect) => Promise<void> = async () => {},
): void {
  for (const dialect of ['postgres', 'sqlite'] as const) {
    void root.test(`${dialect}: ${title}`, async t => {
      const open = dialect === 'postgres' ? openPostgres : openSqlite
      const { connections, close } = await open(dialect === 'postgres' ? 4 : 1, async db => {
        await migrateHost(db)
        await prepare(db, dialect)
      })
      t.teardown(close)
      await run(t, { dialect, dbs: connections as unknown as HostTables['dbs'] })
    })
  }
}
