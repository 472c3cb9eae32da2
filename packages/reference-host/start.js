// `npm start`: builds what has changed, and runs the host in this process. It prints a line for each phase with its time.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from './build.js'

const started = Date.now()
const isFirst = !existsSync(fileURLToPath(new URL('dist/main.js', import.meta.url)))
const note = isFirst ? ' (the first time, about a minute)' : ''
if (process.stdout.isTTY) process.stdout.write(`  Building  ...${note}`)
try {
  await build()
} catch (error) {
  process.stderr.write(`\nThe build failed:\n${/** @type {Error} */ (error).message}\n`)
  process.exit(1)
}
if (process.stdout.isTTY) process.stdout.write('\r\u001b[K')
process.stdout.write(`  Building  ${((Date.now() - started) / 1000).toFixed(1)} s\n`)
await import('./dist/main.js')
