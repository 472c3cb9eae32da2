// Runs several test files one after the other in one process, each as a test of tap's, so that what they import is
// loaded once. Arguments: compiled test files.
import { register } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { FILE_USED, usedCpuMs } from './cpu-time.ts'

register('./several-hooks.js', import.meta.url)
// After the hooks, which replace a part of tap.
const { default: t } = await import('tap')
const { setOwnTest } = await import('./own-test.ts')
const files = process.argv.slice(2)
// Seconds that one file may take: a test that waits for ever is named, and the files after it are run. The long suites kill hosts.
const seconds = files.some(file => file.endsWith('.slow.js')) ? 600 : 180
const timeout = Number(process.env['TAP_TIMEOUT'] ?? seconds) * 1000
t.setTimeout(timeout * files.length)
for (const file of files) {
  const before = usedCpuMs()
  await t.test(file, { timeout }, async own => {
    setOwnTest(own)
    await import(pathToFileURL(resolve(file)).href)
  })
  console.log(`${FILE_USED} ${usedCpuMs() - before} ${file}`)
}
