// Bundles every entry for `require` where it cannot load ES modules, as in jest: dist/require/all.cjs has all modules once, so that entries
// share their state, and runs those of an entry when it is first required. Dependencies of this package stay outside.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const folder = fileURLToPath(new URL('.', import.meta.url))
const output = join(folder, 'dist/require')
const { exports, dependencies, peerDependencies } = JSON.parse(
  readFileSync(join(folder, 'package.json'), 'utf8'),
)
const entries = Object.values(exports).filter(entry => typeof entry === 'object')
const nameOf = entry => entry.require.replace('./dist/require/', '')

/**
 * What require finds from this package: its own dependencies, without jose, which has no entry for `require`. The bundle contains all others,
 * and their licenses: require would not find them, or another version that is installed beside this package.
 */
const OUTSIDE = Object.keys({ ...dependencies, ...peerDependencies }).filter(
  name => !name.startsWith('@gatewright/') && name !== 'jose',
)
const isOutside = path => path.startsWith('node:') || OUTSIDE.some(name => `${path}/`.startsWith(`${name}/`))

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
          isOutside(path) ? { path, external: true } : undefined,
        )
      },
    },
  ],
})
const found = new Map(
  Object.keys(metafile.inputs).flatMap(path => {
    const [library, name] = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? []
    return library === undefined ? [] : [[name, join(folder, library)]]
  }),
)
const licenses = [...found].map(([name, library]) => {
  const { version } = JSON.parse(readFileSync(join(library, 'package.json'), 'utf8'))
  const license = readdirSync(library).find(file => /^licen[cs]e/i.test(file))
  return `/*! Contains ${name} ${version}.\n${readFileSync(join(library, license), 'utf8')}*/\n`
})
rmSync(output, { recursive: true, force: true })
mkdirSync(output, { recursive: true })
writeFileSync(join(output, 'all.cjs'), licenses.join('') + outputFiles[0].text)
for (const entry of entries) {
  const name = nameOf(entry)
  writeFileSync(join(output, name), `'use strict'\nmodule.exports = require('./all.cjs')['${name}']()\n`)
}
