// Runs several test files one after the other in one process, each as a test of tap's, so that what they import is
// loaded once. Arguments: compiled test files.
import { register } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { setOwnTest } from './own-test.ts'

register('./several-hooks.js', import.meta.url)
for (const file of process.argv.slice(2)) {
  await t.test(file, async own => {
    setOwnTest(own)
    await import(pathToFileURL(resolve(file)).href)
  })
}
