// npm run demo, demo:payment and example: compiles the examples with the packages that they use, and runs one file of them.
import { fileURLToPath } from 'node:url'
import { build, EXAMPLES } from '../packages/reference-host/build.js'

const [file, ...rest] = process.argv.slice(2)
try {
  await build(EXAMPLES, process.stderr)
} catch (error) {
  process.stderr.write(`\nThe build failed:\n${/** @type {Error} */ (error).message}\n`)
  process.exit(1)
}
const main = fileURLToPath(new URL(`../build/examples/${file}`, import.meta.url))
process.argv.splice(1, Infinity, main, ...rest)
await import(main)
