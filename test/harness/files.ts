import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Files below `directory` whose name ends in `suffix`, sorted. */
export function filesBelow(directory: string, suffix: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith(suffix))
    .map(entry => join(entry.parentPath, entry.name))
    .filter(path => !path.includes('node_modules'))
    .sort()
}

/** Makes a folder below the system's temporary ones, and deletes it with all that is in it at the end of the test. */
export function temporaryFolder(t: { teardown(end: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-test-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
