import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fromSqlite, type SqlClient } from '@gatewright/kernel/sql'
import Database from 'libsql'

/** The embedded database of one host process. */
export interface EmbeddedDatabase {
  readonly sql: SqlClient
  close(): void
}

/** Another process holds the data folder. Shown to the operator as it is. */
export class DataDirInUse extends Error {
  constructor(dataDir: string) {
    super(`DATA_DIR ${dataDir} is in use by another host: stop it, or set DATA_DIR to another folder`)
  }
}

/**
 * Takes the folder for this process: an exclusive transaction on a file of its own, held until the end. The
 * operating system drops it when the process dies, kill -9 included, so no stale lock can keep a host out.
 */
function lock(dataDir: string): Database.Database {
  const held = new Database(join(dataDir, 'host.lock'))
  try {
    held.exec('pragma busy_timeout = 0')
    held.exec('begin exclusive')
    return held
  } catch {
    held.close()
    throw new DataDirInUse(dataDir)
  }
}

/**
 * Opens the database in `dataDir`, creating both. A commit is on disk when it returns (WAL, full sync). Throws
 * `DataDirInUse` when another process has it open.
 */
export function openDatabase(dataDir: string): EmbeddedDatabase {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const held = lock(dataDir)
  const connect = (pragmas: string): Database.Database => {
    const connection = new Database(join(dataDir, 'host.sqlite'))
    connection.exec(pragmas)
    return connection
  }
  const writer = connect('pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on')
  const reader = connect('pragma query_only = on; pragma busy_timeout = 1000')
  return {
    sql: fromSqlite(writer, reader),
    close: () => {
      for (const connection of [reader, writer, held]) connection.close()
    },
  }
}
