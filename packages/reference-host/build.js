// Builds a host with its pages: what `npm start` and `npm run pack:host` do first.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const TSC = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')

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

/**
 * Builds what has changed. Rejects with what the compiler printed.
 * @returns {Promise<void>}
 */
export async function build() {
  await run([TSC, '-b', HERE])
  await run([join(HERE, 'browser', 'bundle.js')])
}
