import { chmodSync, closeSync, lstatSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import { DataDirInUse, DataDirUnusable } from './data-dir-unusable.ts'

/**
 * The files of a host: the lock, the database with its side files, the secrets and half-written files of an
 * earlier start.
 */
const HOST_FILES = /^(?:host\.(?:lock|sqlite)|secrets\.json|partner-key(?:$|\.))/

/**
 * Locks the data folder for this process with an exclusive transaction on a lock file. The operating system
 * releases it when the process dies, even by `kill -9`, so no stale lock remains. Restricts the host's files
 * to its own user (0600, the folder 0700), also those that were readable before. Throws `DataDirUnusable`
 * when another host uses the folder, or when one of the files belongs to another user.
 */
export function lockDataDir(dataDir: string): { release(): void } {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  restrictFolder(dataDir)
  restrictFile(dataDir, 'host.lock')
  const lock = new Database(join(dataDir, 'host.lock'))
  try {
    lock.exec('pragma busy_timeout = 0')
    lock.exec('begin exclusive')
  } catch {
    lock.close()
    throw new DataDirInUse(
      `DATA_DIR ${dataDir} is in use by another host: stop it, or set DATA_DIR to another folder`,
    )
  }
  try {
    // SQLite gives side files the mode of their database.
    for (const name of new Set(['host.sqlite', ...readdirSync(dataDir)])) {
      if (HOST_FILES.test(name) && isPlainFile(dataDir, name)) restrictFile(dataDir, name)
    }
  } catch (error) {
    lock.close()
    throw error
  }
  return { release: () => lock.close() }
}

/** Whether a name does not exist or is a regular file. The modes of folders and of link targets are not changed. */
function isPlainFile(dataDir: string, name: string): boolean {
  return lstatSync(join(dataDir, name), { throwIfNoEntry: false })?.isFile() ?? true
}

/**
 * Restricts the folder, unless it belongs to another user, such as a mounted volume, or has the sticky bit,
 * such as /tmp.
 */
function restrictFolder(dataDir: string): void {
  const { uid, mode } = statSync(dataDir)
  if (uid === process.getuid?.() && (mode & 0o1000) === 0) chmodSync(dataDir, 0o700)
}

/**
 * Creates a missing file with restricted mode from the start. An existing file is never opened here, since
 * closing it would drop this process's locks on it (POSIX).
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
