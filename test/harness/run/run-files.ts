import { join } from 'node:path'
import { runTests, type FileRun } from './test-process.ts'

/** A test file with one test. */
export const PASSES = `import t from 'tap'
console.error('written by one that passes')
t.test('adds', async t => t.equal(1 + 1, 2))`
/** One whose test takes half a second. */
export const WAITS = `import t from 'tap'
t.test('waits', async t => { await new Promise(resolve => setTimeout(resolve, 500)); t.pass() })`

/** A file with one test that passes, and with something that ends its process or spoils it. */
export const spoiledBy = (code: string): string => `import t from 'tap'
t.test('adds', async t => { t.equal(1 + 1, 2); ${code} })`

/** Runs test files of a folder, so many in a process. */
export async function run(
  folder: string,
  names: readonly string[],
  together: number,
  timeoutMs = 60_000,
): Promise<FileRun[]> {
  const files: FileRun[] = []
  const setting = {
    env: process.env,
    timeoutMs,
    signal: new AbortController().signal,
    ended: (file: FileRun) => files.push(file),
  }
  const left = names.map(name => join(folder, name))
  while (left.length > 0) await runTests({ files: left, together }, setting)
  return files
}
