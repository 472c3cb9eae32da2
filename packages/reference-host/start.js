// `npm start`: builds what has changed, and runs the host in this process. It prints a line for each phase with its time.
import { build, HOST } from './build.js'

const started = Date.now()
try {
  if (await build(HOST, process.stdout))
    process.stdout.write(`  Building  ${((Date.now() - started) / 1000).toFixed(1)} s\n`)
} catch (error) {
  process.stderr.write(`\nThe build failed:\n${/** @type {Error} */ (error).message}\n`)
  process.exit(1)
}
await import('./dist/programs/main.js')
