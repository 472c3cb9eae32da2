// Bundles the programs, each with all that it imports, into dist/programs. From single files a start takes more than twice the CPU time: it
// finds and opens 1,245 of them.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { noticesOf, packageOf } from './browser/notices.js'

const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const OUTPUT = join(FOLDER, 'dist/programs')

/**
 * Replaces a module by the values that it exports, which are computed now, so that a program does not load what they are computed from.
 * Functions in them are left out.
 * @type {import('esbuild').Plugin}
 */
const computedModules = {
  name: 'computed-modules',
  setup({ onLoad }) {
    onLoad({ filter: /\/dist\/cli\/command-help\.js$/ }, async ({ path }) => {
      const values = Object.entries(await import(pathToFileURL(path).href))
      return {
        contents: values.map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}`).join('\n'),
      }
    })
  },
}

const { outputFiles, metafile } = await build({
  absWorkingDir: FOLDER,
  entryPoints: {
    main: 'dist/main.js',
    command: 'dist/cli/main.js',
    'ledger-check.child': 'dist/operator/ledger-check.child.js',
  },
  outdir: OUTPUT,
  bundle: true,
  plugins: [computedModules],
  // What a program imports with `import()` is a file of its own.
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Clients of stores stay outside, because tools that trace queries look for their packages, and libsql is a native library. So do packages
  // without a license text, which would have to go with their code.
  external: ['pg', 'libsql', 'redis', 'koa-compose', 'standardwebhooks'],
  // CommonJS packages load Node's modules by `require`.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url)",
  },
  keepNames: true,
  sourcemap: true,
  legalComments: 'none',
  metafile: true,
  write: false,
  logLevel: 'warning',
})
const packages = new Set(Object.keys(metafile.inputs).flatMap(path => packageOf(resolve(FOLDER, path)) ?? []))
const files = new Map(outputFiles.map(({ path, contents }) => [basename(path), Buffer.from(contents)]))
files.set('third-party-notices.txt', Buffer.from(noticesOf([...packages].toSorted())))

const isUnchanged = [...files].every(([name, bytes]) => {
  const path = join(OUTPUT, name)
  return existsSync(path) && readFileSync(path).equals(bytes)
})
if (!isUnchanged) {
  // Written beside and then moved: a program that starts meanwhile finds the old files or the new ones.
  const beside = `${OUTPUT}-${process.pid}`
  mkdirSync(beside, { recursive: true })
  for (const [name, bytes] of files) writeFileSync(join(beside, name), bytes)
  rmSync(OUTPUT, { recursive: true, force: true })
  renameSync(beside, OUTPUT)
}
