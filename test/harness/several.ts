// Runs several test files one after the other in one process, each as a test of tap's, so that what they import is
// loaded once. Arguments: compiled test files.
import { register } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

register('./several-hooks.js', import.meta.url)
// After the hooks, which replace a part of tap.
const { default: t } = await import('tap')
const { setOwnTest } = await import('./own-test.ts')
const files = process.argv.slice(2)
// Seconds that one file may take. By default tap allows the whole process no more than that.
const timeout = Number(process.env['TAP_TIMEOUT'] ?? 600) * 1000
t.setTimeout(timeout * files.length)
for (const file of files) {
  await t.test(file, { timeout }, async own => {
    setOwnTest(own)
    await import(pathToFileURL(resolve(file)).href)
  })
}
