import { randomUUID } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'

/**
 * Creates a file that only its owner can read: it is on disk, whole, or not there, also if the process is killed. False if the file
 * exists: of several processes that create it at once, one gets true.
 */
export function createPrivateFile(path: string, text: string): boolean {
  return writeBeside(path, text, next => {
    try {
      // Unlike a rename, a link never replaces a file.
      linkSync(next, path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      return false
    }
    syncFolder(path)
    return true
  })
}

/** Writes a file that only its owner can read, and replaces an earlier one: the old file or the new one is there, whole. */
export function replacePrivateFile(path: string, text: string): void {
  writeBeside(path, text, next => {
    renameSync(next, path)
    syncFolder(path)
  })
}

/**
 * Writes a file of a name of its own in the same folder, which is created if it is missing. `use` gives the file its final name. The own
 * name is always removed.
 */
function writeBeside<T>(path: string, text: string, use: (next: string) => T): T {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const next = `${path}.${randomUUID()}.new`
  try {
    writeSynced(next, text)
    return use(next)
  } finally {
    rmSync(next, { force: true })
  }
}

function writeSynced(path: string, text: string): void {
  const handle = openSync(path, 'wx', 0o600)
  try {
    // Unlike `writeSync`, it fails if there is room for a part only.
    writeFileSync(handle, text)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** The name of a new file is on disk only when its folder is. Some file systems cannot do that for a folder. */
function syncFolder(path: string): void {
  const handle = openSync(dirname(path), 'r')
  try {
    fsyncSync(handle)
  } catch {
    // The content is on disk; the name follows.
  } finally {
    closeSync(handle)
  }
}
