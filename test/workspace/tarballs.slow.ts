import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { nodeBinary, OTHER_NODES } from '../harness/binaries.ts'
import { compile } from '../harness/compile.ts'
import { turnOf } from '../harness/turns.ts'
import { installInto, pinned } from './empty-project.ts'
import { importsOf, packageOf } from './imports.ts'
import { fences } from './markdown.ts'
import { packTo } from './pack.ts'
import { entriesOf, manifest, packageNames } from './tree.ts'
import { temporaryFolder } from '../harness/files.ts'

const SCOPE = '@gatewright/'
/** Packages take turns: each is an installation of its own. */
const PACKAGES_A_DAY = 4
const directory = temporaryFolder(t)
const nodes = [process.execPath, ...turnOf(OTHER_NODES, 1).map(nodeBinary)]

/** What a user runs first: the README's fence marked `run`, or its first one. */
function example(name: string): string {
  const all = fences(readFileSync(`packages/${name}/README.md`, 'utf8'))
  const first = all.find(({ runs }) => runs) ?? all[0]
  if (!first) throw new Error(`packages/${name}/README.md has no example`)
  return first.code
}

/** A program that loads every entry of a package's exports map, and then runs its example. */
function program(name: string): string {
  return [...entriesOf(name), './example.js'].map(specifier => `await import('${specifier}')`).join('\n')
}

/** The same for a consumer that is CommonJS. */
const commonJs = (name: string): string =>
  entriesOf(name)
    .map(specifier => `require('${specifier}')`)
    .join('\n')

/** Clients that an example brings along and frameworks of entries, as a team would: in the versions that this repository tests with. */
function brought(name: string, code: string): string[] {
  const { dependencies = {}, peerDependencies = {} } = manifest(name)
  const own = Object.keys(dependencies)
  const imported = importsOf(code).map(found => packageOf(found.specifier))
  const names = new Set([...imported, ...Object.keys(peerDependencies)])
  return [...names].flatMap(found => {
    return found && !own.includes(found) ? (pinned(found) ?? []) : []
  })
}

/** The package and what it needs of its siblings. */
function family(name: string): string[] {
  const siblings = Object.keys(manifest(name).dependencies ?? {}).filter(found => found.startsWith(SCOPE))
  return [name, ...siblings.map(found => found.slice(SCOPE.length))]
}

t.test(
  'each tarball alone installs into an empty project and its README example runs on this Node and another',
  async t => {
    // A package without entries is a command, with a suite of its own: test/create-gatewright.
    const names = turnOf(
      packageNames().filter(name => entriesOf(name).length > 0),
      PACKAGES_A_DAY,
    )
    const packed = new Set(names.flatMap(family))
    const tarballs = Object.fromEntries([...packed].map(name => [name, packTo(directory, name)]))
    const output = await compile(
      'tarballs',
      Object.fromEntries(names.map(name => [`${name}.ts`, example(name)])),
    )
    t.equal(output, '')
    for (const name of names) {
      await t.test(name, async t => {
        const project = join(directory, name)
        const files = family(name).map(found => tarballs[found] as string)
        installInto(project, [...files, ...brought(name, example(name))])
        cpSync(join('build/tarballs', `${name}.js`), join(project, 'example.js'))
        writeFileSync(join(project, 'program.js'), program(name))
        writeFileSync(join(project, 'program.cjs'), commonJs(name))
        for (const node of nodes) {
          const env = { PATH: process.env['PATH'] }
          const options = { cwd: project, env, encoding: 'utf8', timeout: 600_000 } as const
          for (const file of ['program.js', 'program.cjs']) {
            const ran = spawnSync(node, [file], options)
            t.equal(ran.status, 0, `${node} ${file}: ${ran.stdout}${ran.stderr}`)
          }
        }
      })
    }
    const versions = nodes.map(node => spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim())
    t.comment(`measured ${names.length} packages on ${versions.join(', ')}`)
  },
)
