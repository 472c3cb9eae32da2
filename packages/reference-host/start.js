// `npm start`: builds what has changed, and runs the host in this process. It prints a line for each phase with its time.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const TSC = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
const MAIN = join(HERE, 'dist', 'main.js')

/**
 * Runs a Node script and resolves to what it printed, or rejects with it.
 * @param {readonly string[]} args
 * @returns {Promise<string>}
 */
function run(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += String(chunk)))
    child.once('close', code => (code === 0 ? resolve(output) : reject(new Error(output))))
  })
}

const started = Date.now()
const isFirst = !existsSync(MAIN)
const note = isFirst ? ' (the first time, about a minute)' : ''
if (process.stdout.isTTY) process.stdout.write(`  Building  ...${note}`)
try {
  const pages = async () => {
    await run([TSC, '-b', HERE])
    await run([join(HERE, 'browser', 'bundle.js')])
  }
  await Promise.all([pages(), run([join(HERE, 'browser', 'guide-site', 'build.js')])])
} catch (error) {
  process.stderr.write(`\nThe build failed:\n${/** @type {Error} */ (error).message}\n`)
  process.exit(1)
}
if (process.stdout.isTTY) process.stdout.write('\r\u001b[K')
process.stdout.write(`  Building  ${((Date.now() - started) / 1000).toFixed(1)} s\n`)
await import('./dist/main.js')
