// Runs the suites of the ports through a driver of SQLite that the runtime has built in, or of a package. Argument: the driver. Prints the names of
// the failed tests as JSON.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrateIdempotency, sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { idempotencyStorageContract } from '@gatewright/idempotency-store/testing'
import { fromSqlite, type SqlClient, type SqliteDatabase } from '@gatewright/kernel/sql'
import { collectTests, failingTests, sqlClientContract, type TestRunner } from '@gatewright/kernel/testing'
import { migrateSpends, sqliteSpends } from '@gatewright/scope-guard/sqlite'
import { spendStorageContract } from '@gatewright/scope-guard/testing'

type Driver = new (file: string) => SqliteDatabase & { close(): void }

const [name = ''] = process.argv.slice(2)
const loaded = (await import(name)) as { readonly DatabaseSync?: Driver; readonly default: Driver }
const Database = loaded.DatabaseSync ?? loaded.default

async function open<Storage>(migrate: (db: SqlClient) => Promise<void>, storage: (db: SqlClient) => Storage) {
  const directory = mkdtempSync(join(tmpdir(), 'gatewright-driver-'))
  const [writer, reader] = [1, 2].map(() => {
    const database = new Database(join(directory, 'test.sqlite'))
    database.exec('pragma journal_mode = wal; pragma busy_timeout = 5000')
    return database
  }) as [InstanceType<Driver>, InstanceType<Driver>]
  const db = fromSqlite(writer, reader)
  await migrate(db)
  return {
    connections: [storage(db)],
    close: async () => {
      writer.close()
      reader.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

const suites = (runner: TestRunner): void => {
  sqlClientContract(runner, name, () =>
    open(
      async () => {},
      db => db,
    ),
  )
  idempotencyStorageContract(runner, name, () => open(migrateIdempotency, sqliteIdempotency))
  spendStorageContract(runner, name, () => open(migrateSpends, sqliteSpends))
}
console.log(JSON.stringify({ tests: collectTests(suites).length, failed: await failingTests(suites) }))
