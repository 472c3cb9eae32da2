// `npm run pack:host -- FOLDER`: builds the host and writes a folder in which `npm ci` installs it alone, in the versions of this repository.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pack } from '../pack.js'
import { build, HOST } from './build.js'

/** @typedef {{ version?: string, resolved?: string, link?: boolean, dependencies?: Record<string, string>, optionalDependencies?: Record<string, string> }} Locked */

const SCOPE = '@gatewright/'
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
// Programs that run need neither maps nor types.
const TRIM =
  "find node_modules -type f \\( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' \\) -delete"

/**
 * @param {string} path
 * @returns {any}
 */
const readJson = path => JSON.parse(readFileSync(join(ROOT, path), 'utf8'))

/**
 * The packages of this repository that one of them needs, itself included.
 * @param {string} name
 * @param {Set<string>} found
 * @returns {Set<string>}
 */
function family(name, found = new Set()) {
  if (found.has(name)) return found
  found.add(name)
  const { dependencies = {} } = readJson(`packages/${name}/package.json`)
  for (const each of Object.keys(dependencies))
    if (each.startsWith(SCOPE)) family(each.slice(SCOPE.length), found)
  return found
}

/**
 * The lockfile of this repository with tarballs in place of its packages. npm then drops what the host does not need.
 * @param {object} manifest
 * @param {ReadonlyMap<string, string>} tarballs
 * @returns {object}
 */
function lockOf(manifest, tarballs) {
  const { packages, ...lock } = /** @type {{ packages: Record<string, Locked> }} */ (
    readJson('package-lock.json')
  )
  /** @type {Record<string, object>} */
  const locked = { '': manifest }
  for (const [path, entry] of Object.entries(packages)) {
    const [, own, below = ''] = /^packages\/([^/]+)(\/.*)?$/.exec(path) ?? []
    if (own === undefined) {
      if (path !== '' && !entry.link) locked[path] = entry
    } else if (tarballs.has(own)) {
      const resolved = below === '' ? { resolved: `file:${tarballs.get(own)}` } : {}
      locked[`node_modules/${SCOPE}${own}${below}`] = { ...entry, ...resolved }
    }
  }
  return { ...lock, packages: locked }
}

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  process.stderr.write('Usage: npm run pack:host -- FOLDER\n')
  process.exit(2)
}
await build(HOST, process.stderr)
mkdirSync(folder, { recursive: true })
/** @type {Map<string, string>} */
const tarballs = new Map()
for (const name of family('reference-host')) tarballs.set(name, basename(await pack(name, folder)))
const { version, license, engines } = readJson('packages/reference-host/package.json')
const manifest = {
  name: 'gatewright-host',
  version,
  private: true,
  license,
  type: 'module',
  engines,
  scripts: { postinstall: TRIM },
  dependencies: Object.fromEntries([...tarballs].map(([name, file]) => [`${SCOPE}${name}`, `file:${file}`])),
}
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
writeFileSync(join(folder, 'package-lock.json'), `${JSON.stringify(lockOf(manifest, tarballs), null, 2)}\n`)
const complete = ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund']
execFileSync('npm', complete, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
process.stdout.write(`Packed the host into ${folder}: run npm ci there\n`)
