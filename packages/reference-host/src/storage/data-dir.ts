import { chmodSync, closeSync, lstatSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import { DataDirUnusable } from './data-dir-unusable.ts'

/** What a host writes: the lock, the database with its companions, the secrets and what a start left half written. */
const HOST_FILES = /^(?:host\.(?:lock|sqlite)|secrets\.json)/

/**
 * Takes the folder for this process: an exclusive transaction on a file of its own, held until the end. The
 * operating system drops it when the process dies, kill -9 included, so no stale lock can keep a host out. What a
 * host writes there is closed to other users (0600, the folder 0700), also where it was open before. Throws
 * `DataDirUnusable` when another host has the folder, or when a file in it is another user's.
 */
export function lockDataDir(dataDir: string): { release(): void } {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  restrictFolder(dataDir)
  restrictFile(dataDir, 'host.lock')
  const held = new Database(join(dataDir, 'host.lock'))
  try {
    held.exec('pragma busy_timeout = 0')
    held.exec('begin exclusive')
  } catch {
    held.close()
    throw new DataDirUnusable(
      `DATA_DIR ${dataDir} is in use by another host: stop it, or set DATA_DIR to another folder`,
    )
  }
  try {
    // SQLite gives the companions of its database the mode of the database.
    for (const name of new Set(['host.sqlite', ...readdirSync(dataDir)])) {
      if (HOST_FILES.test(name) && isPlainFile(dataDir, name)) restrictFile(dataDir, name)
    }
  } catch (error) {
    held.close()
    throw error
  }
  return { release: () => held.close() }
}

/** Whether a name is missing or a file of its own: the mode of a folder, or of what a link names, stays. */
function isPlainFile(dataDir: string, name: string): boolean {
  return lstatSync(join(dataDir, name), { throwIfNoEntry: false })?.isFile() ?? true
}

/** A folder of another user, such as a mounted volume, or one with the sticky bit, such as /tmp, is not ours to close. */
function restrictFolder(dataDir: string): void {
  const { uid, mode } = statSync(dataDir)
  if (uid === process.getuid?.() && (mode & 0o1000) === 0) chmodSync(dataDir, 0o700)
}

/**
 * Makes a file that is missing, closed from its first instant. One that exists is never opened here: closing it again
 * would drop the locks that this process has on it (POSIX).
 */
function restrictFile(dataDir: string, name: string): void {
  const path = join(dataDir, name)
  try {
    closeSync(openSync(path, 'ax', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  try {
    chmodSync(path, 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error
    throw new DataDirUnusable(
      `DATA_DIR ${dataDir} has a file ${name} of another user, who could read it: give it to the user that runs the host, ` +
        'or set DATA_DIR to another folder',
    )
  }
}
