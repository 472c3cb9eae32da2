import { readFileSync } from 'node:fs'
import { posix, sep } from 'node:path'
import t from 'tap'
import { filesBelow } from '../harness/files.ts'
import { importsOf, packageOf } from './imports.ts'
import { manifest } from './tree.ts'

const OURS = '@gatewright/'

/** The source of one of our modules; undefined for any other. */
function sourceOf(from: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(from), specifier)
  if (!specifier.startsWith(OURS)) return undefined
  const [name = '', ...sub] = specifier.slice(OURS.length).split('/')
  const entry = manifest(name).exports?.[['.', ...sub].join('/')] as Readonly<Record<string, string>>
  const built = (entry['default'] as string).replace('dist/', 'src/').replace(/\.js$/, '.ts')
  return posix.join('packages', name, built)
}

/** The packages of others that loading a file loads too. */
function loadedWith(path: string, seen = new Set<string>()): Set<string> {
  const packages = new Set<string>()
  if (seen.has(path)) return packages
  seen.add(path)
  for (const { specifier, typeOnly, later } of importsOf(readFileSync(path, 'utf8'))) {
    if (typeOnly || later) continue
    const source = sourceOf(path, specifier)
    const found = source ? loadedWith(source, seen) : [packageOf(specifier) ?? []].flat()
    for (const each of found) packages.add(each)
  }
  return packages
}

t.test(
  'a host loads the client of a store, viem and Koa when its configuration or its serving needs them',
  async t => {
    const loaded = loadedWith('packages/reference-host/src/composition/serve.ts')
    for (const name of ['ajv', 'jose']) t.ok(loaded.has(name), `${name} was found`)
    for (const name of ['redis', 'pg', 'libsql', 'viem', 'commander', 'koa']) t.notOk(loaded.has(name), name)
    t.ok(loadedWith('packages/host/src/storage/redis.ts').has('redis'))
    t.ok(loadedWith('packages/host/src/http/app.ts').has('koa'), 'a host that serves loads it')
    t.ok(loadedWith('packages/host/src/cli/program.ts').has('commander'))
    t.notOk(loadedWith('packages/reference-host/src/index.ts').has('commander'), 'by whoever starts a host')
  },
)

t.test('operator commands are loaded when one runs, not by whoever imports the host', async t => {
  const loaded = new Set<string>()
  loadedWith('packages/reference-host/src/index.ts', loaded)
  const commands = /^packages\/reference-host\/src\/.*(?:(?<!run-)commands?|explain-token|start)\.ts$/
  t.same(
    [...loaded].filter(path => commands.test(path)),
    [],
  )
  const faces = filesBelow('packages/reference-host/src', 'module.ts').map(path => path.split(sep).join('/'))
  const later = faces.flatMap(face =>
    importsOf(readFileSync(face, 'utf8'))
      .filter(each => each.later)
      .map(each => posix.join(posix.dirname(face), each.specifier)),
  )
  t.ok(later.length >= 10, 'the commands were found')
  t.ok(later.every(path => commands.test(path)))
})
