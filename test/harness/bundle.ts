import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

/** Not bundled: tests replace their methods, or they load files of their own. */
const EXTERNAL = ['pg', 'libsql', 'esbuild']
/** Packages read files beside themselves, wherever the bundle is. */
const ownUrls: Plugin = {
  name: 'own-urls',
  setup({ onLoad }) {
    onLoad({ filter: /packages\/[^/]+\/dist\/.*\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replaceAll('import.meta.url', `"${pathToFileURL(path).href}"`),
    }))
  },
}

/**
 * Bundles compiled scripts with what they import, and resolves to their new paths, until this process ends. A script that is started
 * again and again spends half of its time in loading hundreds of files. What they share is one module in all of them.
 */
export async function bundled(scripts: readonly string[]): Promise<string[]> {
  mkdirSync('build/bundled', { recursive: true })
  const outdir = mkdtempSync('build/bundled/')
  process.once('exit', () => rmSync(outdir, { recursive: true, force: true }))
  await build({
    // Two scripts may have one name.
    entryPoints: scripts.map((script, at) => ({ in: script, out: nameOf(script, at) })),
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: EXTERNAL,
    plugins: [ownUrls],
    logLevel: 'warning',
    // CommonJS packages load Node's modules by require.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url)",
    },
  })
  return scripts.map((script, at) => join(outdir, `${nameOf(script, at)}.mjs`))
}

const nameOf = (script: string, at: number): string => `${at}-${basename(script, '.js')}`
