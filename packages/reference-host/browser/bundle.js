// Bundles every page of this folder that has an `index.html` into dist/browser: assets named by their hash with compressed copies,
// HTML documents that name them, and a manifest for the host. Does nothing when no source has changed.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { scalarBundle } from './docs/scalar-bundle.js'
import { noticesOf, packageOf } from './notices.js'

const SOURCES = fileURLToPath(new URL('.', import.meta.url))
const OUTPUT = fileURLToPath(new URL('../dist/browser', import.meta.url))
/** Names the versions of esbuild and of every bundled library. */
const LOCK = fileURLToPath(new URL('../../../package-lock.json', import.meta.url))
const MANIFEST = join(OUTPUT, 'manifest.json')
const ASSETS = '/assets/'

/** @param {string | Uint8Array} bytes */
const digest = bytes => createHash('sha256').update(bytes).digest('base64url').slice(0, 22)

/** A digest of all that the output depends on. */
function inputs() {
  const files = readdirSync(SOURCES, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .sort()
  return digest(
    [LOCK, ...files].map(path => `${relative(SOURCES, path)} ${digest(readFileSync(path))}`).join('\n'),
  )
}

/** @param {string} name */
async function bundlePage(name) {
  const { build } = await import('esbuild')
  const { outputFiles, metafile } = await build({
    absWorkingDir: SOURCES,
    metafile: true,
    entryPoints: {
      // A page that only says something has no script.
      ...(existsSync(join(SOURCES, name, 'main.ts')) ? { [name]: join(SOURCES, name, 'main.ts') } : {}),
      [`${name}.style`]: join(SOURCES, name, 'page.css'),
    },
    outdir: '/assets',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    // What a script imports with `import()` is a file of its own.
    splitting: true,
    minify: true,
    write: false,
    format: 'esm',
    charset: 'utf8',
    logLevel: 'warning',
    target: ['es2022', 'chrome115', 'firefox115', 'safari16.4'],
  })
  const built = outputFiles.map(({ path, contents }) => ({
    name: basename(path),
    bytes: Buffer.from(contents),
  }))
  const packages = Object.keys(metafile.inputs).flatMap(path => packageOf(resolve(SOURCES, path)) ?? [])
  return name === 'docs'
    ? { assets: [...built, scalarAsset()], packages: [...packages, SCALAR] }
    : { assets: built, packages }
}

/** The package whose library the API reference is. */
const SCALAR = fileURLToPath(new URL('../../../node_modules/@scalar/fastify-api-reference', import.meta.url))

/** The library of the API reference as it is: it is bundled already. */
function scalarAsset() {
  const bytes = Buffer.from(scalarBundle())
  return { name: `scalar-${digest(bytes).slice(0, 8)}.js`, bytes }
}

/**
 * The document of a page with the addresses of its assets in place of its sources.
 * @param {string} name
 * @param {readonly { readonly name: string }[]} assets
 */
function documentOf(name, assets) {
  /** @param {RegExp} pattern */
  const address = pattern => `${ASSETS}${assets.find(asset => pattern.test(asset.name))?.name}`
  return readFileSync(join(SOURCES, name, 'index.html'), 'utf8')
    .replaceAll('./main.ts', address(new RegExp(`^${name}-.*\\.js$`)))
    .replaceAll('./page.css', address(/\.css$/))
    .replaceAll('./scalar.js', address(/^scalar-/))
}

/** At the highest quality Brotli takes 10 s for the library of the API reference, and saves a few percent. */
const LARGE = 1_000_000

/** @param {Buffer} bytes */
const compressed = bytes =>
  brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: bytes.length > LARGE ? 9 : constants.BROTLI_MAX_QUALITY },
  })

/** @param {string} folder */
async function writePages(folder) {
  mkdirSync(join(folder, 'assets'), { recursive: true })
  const names = readdirSync(SOURCES).filter(name => existsSync(join(SOURCES, name, 'index.html')))
  const bundled = new Set()
  const pages = names.map(async name => {
    const { assets, packages } = await bundlePage(name)
    for (const each of packages) bundled.add(each)
    writeFileSync(join(folder, `${name}.html`), documentOf(name, assets))
    for (const asset of assets) {
      writeFileSync(join(folder, 'assets', asset.name), asset.bytes)
      writeFileSync(join(folder, 'assets', `${asset.name}.br`), compressed(asset.bytes))
      writeFileSync(join(folder, 'assets', `${asset.name}.gz`), gzipSync(asset.bytes, { level: 9 }))
    }
    const listed = assets.map(asset => [asset.name, digest(asset.bytes)])
    return [name, { document: `${name}.html`, assets: Object.fromEntries(listed) }]
  })
  const made = Object.fromEntries(await Promise.all(pages))
  writeFileSync(
    join(folder, 'third-party-notices.txt'),
    noticesOf([...bundled].toSorted((a, b) => (a < b ? -1 : 1))),
  )
  return made
}

const now = inputs()
const before = existsSync(MANIFEST) ? JSON.parse(readFileSync(MANIFEST, 'utf8')).inputs : undefined
if (before !== now) {
  // Written beside and then moved: a host that starts meanwhile finds the old pages or the new ones.
  const folder = `${OUTPUT}-${process.pid}`
  const manifest = { inputs: now, pages: await writePages(folder) }
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest, null, 1))
  rmSync(OUTPUT, { recursive: true, force: true })
  renameSync(folder, OUTPUT)
}
