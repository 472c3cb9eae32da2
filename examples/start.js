// npm run demo, demo:payment and example: compiles the examples with the packages that they use, and runs one file of them.
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const TSC = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
const [file, ...rest] = process.argv.slice(2)

// The first build takes half a minute: a terminal says so, and forgets it when the example begins.
if (process.stderr.isTTY) process.stderr.write('Building ...')
const { status } = spawnSync(process.execPath, [TSC, '-b', HERE], { stdio: 'inherit' })
if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
if (status !== 0) process.exit(1)
const main = fileURLToPath(new URL(`../build/examples/${file}`, import.meta.url))
process.argv.splice(1, Infinity, main, ...rest)
await import(main)
