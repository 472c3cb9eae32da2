// `node packages/pack.js FOLDER NAME...` packs built packages as they are published, and prints the path of each tarball. A published package has few
// files: an import takes most of its time to find and open files, and each file takes whole blocks of the disk. So the modules behind an entry
// are bundled, readable as they are, and what entries share is in chunks. Of the types, those are kept that an entry reaches.
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { noticesOf, packageOf } from './reference-host/browser/notices.js'

/** @typedef {{ name: string, exports?: unknown, imports?: unknown, bin?: Record<string, string>, dependencies?: Record<string, string>, optionalDependencies?: Record<string, string>, peerDependencies?: Record<string, string>, devDependencies?: Record<string, string> }} Manifest */

const ROOT = fileURLToPath(new URL('.', import.meta.url))
/** The package whose build makes its bundles. */
const HAS_BUNDLES = 'reference-host'

/**
 * @param {string} name
 * @returns {Manifest}
 */
const manifestOf = name => JSON.parse(readFileSync(join(ROOT, name, 'package.json'), 'utf8'))

/**
 * The built modules of a package that others load: those that its manifest names, and those that its commands load.
 * @param {string} name
 * @returns {string[]}
 */
function entriesOf(name) {
  const { exports, imports, bin = {} } = manifestOf(name)
  const commands = Object.values(bin)
    .filter(path => !/^(\.\/)?dist\//.test(path))
    .map(path => readFileSync(join(ROOT, name, path), 'utf8'))
  const texts = [JSON.stringify({ exports, imports, bin }), ...commands].join('\n')
  const entries = [...texts.matchAll(/dist\/[\w/*-]+\.js\b/g)].flatMap(([path]) => {
    if (!path.includes('*')) return [path]
    const modules = readdirSync(join(ROOT, name, dirname(path))).filter(file => file.endsWith('.js'))
    return modules.map(file => join(dirname(path), file))
  })
  return [...new Set(entries)]
}

/**
 * Writes the bundles of a package into a copy of it. Its dependencies stay outside; a development dependency that a module imports is inside.
 * @param {string} name
 * @param {string} copy
 */
async function writeBundles(name, copy) {
  const { dependencies, optionalDependencies, peerDependencies } = manifestOf(name)
  const { metafile } = await build({
    absWorkingDir: join(ROOT, name),
    entryPoints: entriesOf(name),
    outbase: 'dist',
    outdir: join(copy, 'dist'),
    chunkNames: 'chunks/[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Imports by `#` depend on the runtime.
    external: [...Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }), '#*'],
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  })
  const libraries = Object.keys(metafile.inputs).flatMap(path => packageOf(resolve(ROOT, name, path)) ?? [])
  if (libraries.length > 0)
    writeFileSync(join(copy, 'dist/third-party-notices.txt'), noticesOf([...new Set(libraries)].toSorted()))
}

/**
 * The files with types of a package that its entries reach.
 * @param {string} name
 * @returns {ReadonlySet<string>}
 */
function typesOf(name) {
  const entries = entriesOf(name).map(path => join(ROOT, name, path.replace(/\.js$/, '.d.ts')))
  // A command has no types.
  const reached = new Set(entries.filter(path => existsSync(path)))
  // A loop over a set also visits what is added meanwhile.
  for (const path of reached) {
    const imported = readFileSync(path, 'utf8').matchAll(/['"](\.\.?\/[^'"]+)\.[jt]s['"]/g)
    for (const [, module = ''] of imported) {
      const types = join(dirname(path), `${module}.d.ts`)
      // An import in an example of a comment may name no module.
      if (existsSync(types)) reached.add(types)
    }
  }
  return reached
}

/**
 * Packs a built package into a folder. Returns the path of the tarball.
 * @param {string} name
 * @param {string} folder
 * @returns {Promise<string>}
 */
export async function pack(name, folder) {
  const from = join(ROOT, name)
  const copy = mkdtempSync(join(tmpdir(), `gatewright-${name}-`))
  const isBundled = name !== HAS_BUNDLES
  const types = typesOf(name)
  try {
    cpSync(from, copy, {
      recursive: true,
      filter: path => {
        const [first = ''] = relative(from, path).split('/')
        if (['node_modules', 'src'].includes(first)) return false
        if (!isBundled || first !== 'dist') return true
        return path.endsWith('.d.ts') ? types.has(path) : !path.endsWith('.js')
      },
    })
    if (isBundled) await writeBundles(name, copy)
    const { devDependencies: _, ...manifest } = manifestOf(name)
    writeFileSync(join(copy, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
    const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', resolve(folder)]
    const [{ filename }] = JSON.parse(execFileSync('npm', args, { cwd: copy, encoding: 'utf8' }))
    return join(resolve(folder), filename)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const [folder = '', ...names] = argv.slice(2)
  if (names.length === 0) {
    process.stderr.write('Usage: node packages/pack.js FOLDER NAME...\n')
    process.exit(2)
  }
  mkdirSync(folder, { recursive: true })
  for (const name of names) process.stdout.write(`${await pack(name, folder)}\n`)
}
