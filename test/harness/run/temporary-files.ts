import { accessSync, constants, statfsSync } from 'node:fs'

const FOLDER = '/dev/shm'
/** More than the suites write. */
const NEEDED_BYTES = 8 * 1024 ** 3

/**
 * Puts the temporary files of this process and of those it starts into memory, where the system has a folder for that and space in
 * it: on a disk SQLite and Redis wait at every commit. Tests kill processes and never the machine, so nothing is lost.
 */
export function keepTemporaryFilesInMemory(): void {
  if (process.env['TMPDIR'] === undefined && hasRoom()) process.env['TMPDIR'] = FOLDER
}

function hasRoom(): boolean {
  try {
    accessSync(FOLDER, constants.W_OK)
    const { bavail, bsize } = statfsSync(FOLDER)
    return bavail * bsize > NEEDED_BYTES
  } catch {
    return false
  }
}
