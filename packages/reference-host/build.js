// Builds what a program of this repository needs, with its progress: what `npm start`, `npm run pack:host` and `npm run example` do first.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Built files, and those of other programs, are not sources. */
const SKIPPED = new Set(['dist', 'node_modules', 'generated'])
/** A line of the compiler about its progress, such as `06:37:24 AM - Building project '...'`. */
const PROGRESS = /^\d\d:\d\d:\d\d \w\w - /
/** How it lists the projects that it builds. */
const LISTED = '    * '
/** How often a terminal is shown the progress, and a log. In ms. */
const EVERY = { terminal: 1000, log: 15_000 }

/**
 * What is built.
 * @typedef {object} Target
 * @property {string} name Names the stamp of the last build.
 * @property {string} project The folder that the compiler builds, with all that it refers to, from the root of the repository.
 * @property {readonly string[]} sources The folders whose files it is built from.
 * @property {readonly string[]} outputs Files that every build leaves.
 * @property {Record<string, string>} [bundles] Scripts that bundle what was compiled, by what they make.
 */

/** @type {Target} */
export const HOST = {
  name: 'host',
  project: 'packages/reference-host',
  sources: ['packages'],
  outputs: [
    'packages/reference-host/dist/programs/main.js',
    'packages/reference-host/dist/browser/manifest.json',
  ],
  bundles: {
    'the pages': 'packages/reference-host/browser/bundle.js',
    'the programs': 'packages/reference-host/bundle.js',
  },
}

/** @type {Target} */
export const EXAMPLES = {
  name: 'examples',
  project: 'examples',
  sources: ['packages', 'examples'],
  outputs: ['build/.examples.tsbuildinfo'],
}

/**
 * Describes files: whoever changes one, or gives it its earlier content back, changes its `ctime`.
 * @param {readonly string[]} files
 * @returns {string}
 */
function digestOf(files) {
  const hash = createHash('sha256')
  for (const path of files.toSorted()) {
    const stats = statSync(join(ROOT, path), { throwIfNoEntry: false })
    hash.update(`${path} ${stats?.ctimeMs} ${stats?.size}\n`)
  }
  return hash.digest('hex')
}

/**
 * The files that a build depends on.
 * @param {Target} target
 * @returns {string[]}
 */
function sourcesOf({ sources }) {
  const files = ['package-lock.json', 'tsconfig.json', 'node_modules/.package-lock.json']
  const folders = [...sources]
  for (const folder of folders) {
    for (const entry of readdirSync(join(ROOT, folder), { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`
      if (!entry.isDirectory()) files.push(path)
      else if (!SKIPPED.has(entry.name)) folders.push(path)
    }
  }
  return files
}

/**
 * What is kept of a build: digests of what it was built from, and of what it left.
 * @typedef {object} Stamp
 * @property {string} sources
 * @property {readonly string[]} files
 * @property {string} built
 */

/** @param {Target} target */
const stampOf = ({ name }) => join(ROOT, 'build', 'stamps', `${name}.json`)

/**
 * Whether the last build was of these sources, and all that it left is there unchanged.
 * @param {Target} target
 * @param {string} sources
 * @returns {boolean}
 */
function isBuilt(target, sources) {
  const path = stampOf(target)
  if (!existsSync(path)) return false
  /** @type {Stamp} */
  const stamp = JSON.parse(readFileSync(path, 'utf8'))
  return stamp.sources === sources && stamp.built === digestOf(stamp.files)
}

/**
 * Runs a Node script. Resolves when it ends with 0, and rejects with what it printed.
 * @param {readonly string[]} args
 * @param {(line: string) => void} [onLine]
 * @returns {Promise<void>}
 */
function run(args, onLine = () => {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    let rest = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', chunk => {
        output += String(chunk)
        const lines = (rest + String(chunk)).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) onLine(line)
      })
    child.once('close', code => (code === 0 ? resolve() : reject(new Error(output))))
  })
}

/**
 * Compiles a project. Resolves to the folders that the compiler looked at, and rejects with the errors alone.
 * @param {string} project
 * @param {(text: string) => void} report Is told how many packages are done.
 * @returns {Promise<readonly string[]>}
 */
async function compile(project, report) {
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
  /** @type {string[]} */
  const folders = []
  let begun = 0
  try {
    await run([tsc, '-b', project, '--verbose'], line => {
      if (line.startsWith(LISTED)) folders.push(dirname(line.slice(LISTED.length)))
      if (/ - (?:Building project|Project .* is up to date)/.test(line)) begun += 1
      if (begun > 0) report(`${begun - 1} of ${folders.length} packages`)
    })
    return folders
  } catch (error) {
    const lines = /** @type {Error} */ (error).message.split('\n')
    const errors = lines.filter(line => !PROGRESS.test(line) && !line.startsWith(LISTED))
    throw new Error(errors.join('\n').trim(), { cause: error })
  }
}

/**
 * Calls `show` with the progress and the seconds since now: on a terminal every second, for a log from time to time.
 * @param {NodeJS.WriteStream} stream
 */
function progressOn(stream) {
  const started = Date.now()
  let text = ''
  const show = () => {
    const line = `  Building  ${[text, `${Math.round((Date.now() - started) / 1000)} s`].filter(Boolean).join(', ')}`
    stream.write(stream.isTTY ? `\r\u001b[K${line}` : `${line}\n`)
  }
  if (stream.isTTY) show()
  const timer = setInterval(show, stream.isTTY ? EVERY.terminal : EVERY.log)
  return {
    /** @param {string} now */
    report(now) {
      if (text === now) return
      text = now
      if (stream.isTTY) show()
    },
    end() {
      clearInterval(timer)
      if (stream.isTTY) stream.write('\r\u001b[K')
    },
  }
}

/**
 * Builds what has changed since the last build, with its progress on `stream`. Resolves to whether there was anything to look at: an unchanged
 * tree costs some ms. Rejects with the errors of the compiler.
 * @param {Target} target
 * @param {NodeJS.WriteStream} stream
 * @returns {Promise<boolean>}
 */
export async function build(target, stream) {
  const sources = digestOf(sourcesOf(target))
  if (isBuilt(target, sources)) return false
  const progress = progressOn(stream)
  const files = [...target.outputs]
  try {
    for (const folder of await compile(target.project, progress.report))
      files.push(`${folder}/dist/.tsbuildinfo`)
    for (const [made, script] of Object.entries(target.bundles ?? {})) {
      progress.report(made)
      await run([script])
    }
  } finally {
    progress.end()
  }
  const path = stampOf(target)
  mkdirSync(dirname(path), { recursive: true })
  // At once: a process that is killed leaves no half of it.
  writeFileSync(`${path}.new`, JSON.stringify({ sources, files, built: digestOf(files) }))
  renameSync(`${path}.new`, path)
  return true
}
