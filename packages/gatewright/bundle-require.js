// Bundles every entry for `require` where it cannot load ES modules, as in jest: dist/require/all.cjs has all modules once, so that entries
// share their state, and runs those of an entry when it is first required. Libraries that require finds stay outside.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const folder = fileURLToPath(new URL('.', import.meta.url))
const output = join(folder, 'dist/require')
const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
const entries = Object.values(exports).filter(entry => typeof entry === 'object')
const nameOf = entry => entry.require.replace('./dist/require/', '')

/** Libraries that have no entry for `require`. The bundle contains them, and their licenses. */
const BUNDLED = ['jose']

const { outputFiles, metafile } = await build({
  absWorkingDir: folder,
  stdin: {
    contents: entries
      .map(entry => `exports['${nameOf(entry)}'] = () => require('${entry.default}')`)
      .join('\n'),
    resolveDir: folder,
  },
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  minify: true,
  keepNames: true,
  metafile: true,
  write: false,
  logLevel: 'warning',
  plugins: [
    {
      name: 'libraries stay outside',
      setup({ onResolve }) {
        onResolve({ filter: /^[^./#]/ }, ({ path }) =>
          path.startsWith('@gatewright/') || BUNDLED.some(name => `${path}/`.startsWith(`${name}/`))
            ? undefined
            : { path, external: true },
        )
      },
    },
  ],
})
const found = new Set(
  Object.keys(metafile.inputs).flatMap(path => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []),
)
const licenses = [...found].map(name => {
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
  const { version } = JSON.parse(readFileSync(manifest, 'utf8'))
  return `/*! Contains ${name} ${version}.\n${readFileSync(join(manifest, '../LICENSE.md'), 'utf8')}*/\n`
})
rmSync(output, { recursive: true, force: true })
mkdirSync(output, { recursive: true })
writeFileSync(join(output, 'all.cjs'), licenses.join('') + outputFiles[0].text)
for (const entry of entries) {
  const name = nameOf(entry)
  writeFileSync(join(output, name), `'use strict'\nmodule.exports = require('./all.cjs')['${name}']()\n`)
}
