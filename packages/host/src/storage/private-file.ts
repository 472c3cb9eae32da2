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
  const next = writeBeside(path, text)
  try {
    // Unlike a rename, a link never replaces a file.
    linkSync(next, path)
    syncFolder(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  } finally {
    rmSync(next, { force: true })
  }
}

/** Writes a file that only its owner can read, and replaces an earlier one: the old file or the new one is there, whole. */
export function replacePrivateFile(path: string, text: string): void {
  const next = writeBeside(path, text)
  try {
    renameSync(next, path)
    syncFolder(path)
  } catch (error) {
    rmSync(next, { force: true })
    throw error
  }
}

/** Writes a file of a name of its own in the same folder, which is created if it is missing. */
function writeBeside(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const next = `${path}.${randomUUID()}.new`
  const handle = openSync(next, 'wx', 0o600)
  try {
    // Unlike `writeSync`, it fails if there is room for a part only.
    writeFileSync(handle, text)
    fsyncSync(handle)
  } catch (error) {
    rmSync(next, { force: true })
    throw error
  } finally {
    closeSync(handle)
  }
  return next
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
