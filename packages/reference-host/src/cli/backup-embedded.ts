import { existsSync } from 'node:fs'
import { chmod, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type Database from 'libsql'

/** How long the copy waits for a lock of the host, in ms. */
const BUSY_MS = 10_000

/** A copy of the embedded database. */
export interface EmbeddedBackup {
  readonly bytes: number
  /** It has every write that was acknowledged before this time. */
  readonly takenAt: number
}

/**
 * Copies the embedded database of `dataDir` to a new file of mode 0600. A host may write meanwhile: the copy is the state at one instant.
 * In the copy a loss of history is recorded, so that no host that is started on it is ready before an operator has dealt with it. The
 * file has its name only when it is complete and on disk. Rejects if the database is absent or busy, or the file exists or cannot be written.
 */
export async function backupEmbedded(dataDir: string, file: string): Promise<EmbeddedBackup> {
  const source = join(dataDir, 'host.sqlite')
  if (!existsSync(source)) throw new Error(`DATA_DIR ${dataDir} has no host.sqlite`)
  if (existsSync(file)) throw new Error(`${file} exists: give a new file`)
  const unfinished = `${file}.unfinished`
  await rm(unfinished, { force: true })
  const takenAt = Date.now()
  try {
    await (await open(unfinished, 'wx', 0o600)).close()
    // Loaded when it is used: hosts on Postgres have no need of it.
    const { default: Sqlite } = await import('libsql')
    copy(new Sqlite(source), unfinished)
    markAsBackup(new Sqlite(unfinished), takenAt)
    await chmod(unfinished, 0o600)
    await sync(unfinished)
    await rename(unfinished, file)
    await sync(dirname(file))
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  }
  return { bytes: (await stat(file)).size, takenAt }
}

function copy(database: Database.Database, to: string): void {
  try {
    database.exec(`pragma busy_timeout = ${BUSY_MS}`)
    // An existing file must be empty, as this one is.
    database.exec(`vacuum into '${to.replaceAll("'", "''")}'`)
  } finally {
    database.close()
  }
}

/** Checks the copy, and records in it that what was written later is lost. */
function markAsBackup(database: Database.Database, takenAt: number): void {
  try {
    const [result] = database.prepare('pragma integrity_check').all() as { integrity_check: string }[]
    if (result?.integrity_check !== 'ok')
      throw new Error(`the copy is damaged: ${String(result?.integrity_check)}`)
    database
      .prepare(
        `insert into gw_lost_history (host_id, found_at, acknowledged_at, kept_at) values (?, ?, ?, ?)
          on conflict (host_id) do update set found_at = excluded.found_at, acknowledged_at = excluded.acknowledged_at,
            kept_at = excluded.kept_at, accepted_at = null`,
      )
      .run('backup', takenAt, takenAt, takenAt)
  } finally {
    database.close()
  }
}

async function sync(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
