import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { nodeBinary, OTHER_NODES } from '../harness/binaries.ts'
import { compile } from '../harness/compile.ts'
import { importsOf, packageOf } from './imports.ts'
import { fences } from './markdown.ts'
import { packTo } from './pack.ts'
import { manifest, packageNames } from './tree.ts'

const SCOPE = '@gatewright/'
const directory = mkdtempSync(join(tmpdir(), 'gatewright-tarballs-'))
t.teardown(() => rmSync(directory, { recursive: true, force: true }))
const nodes = [process.execPath, ...OTHER_NODES.map(nodeBinary)]

/** What a user runs first: the README's fence marked `run`, or its first one. */
function example(name: string): string {
  const all = fences(readFileSync(`packages/${name}/README.md`, 'utf8'))
  const first = all.find(({ runs }) => runs) ?? all[0]
  if (!first) throw new Error(`packages/${name}/README.md has no example`)
  return first.code
}

/** A program that loads every entry of a package's exports map, and then runs its example. */
function program(name: string): string {
  const entries = Object.entries(manifest(name).exports ?? {})
  const specifiers = entries.flatMap(([entry, target]) =>
    typeof target === 'string' ? [] : [`@gatewright/${name}${entry.slice(1)}`],
  )
  return [...specifiers, './example.js'].map(specifier => `await import('${specifier}')`).join('\n')
}

/** Clients that an example brings along, as a team would: in the versions that this repository tests with. */
function brought(name: string, code: string): string[] {
  const pins = JSON.parse(readFileSync('package.json', 'utf8')) as { devDependencies: Record<string, string> }
  const own = Object.keys(manifest(name).dependencies ?? {})
  const names = new Set(importsOf(code).map(found => packageOf(found.specifier)))
  return [...names].flatMap(found => {
    const pin = found && !own.includes(found) ? pins.devDependencies[found] : undefined
    return pin ? [`${found}@${pin}`] : []
  })
}

/** The package and what it needs of its siblings. */
function family(name: string): string[] {
  const siblings = Object.keys(manifest(name).dependencies ?? {}).filter(found => found.startsWith(SCOPE))
  return [name, ...siblings.map(found => found.slice(SCOPE.length))]
}

t.test(
  'each tarball alone installs into an empty project and its README example runs on every Node',
  async t => {
    const names = packageNames()
    const tarballs = Object.fromEntries(names.map(name => [name, packTo(directory, name)]))
    const output = await compile(
      'tarballs',
      Object.fromEntries(names.map(name => [`${name}.ts`, example(name)])),
    )
    t.equal(output, '')
    for (const name of names) {
      await t.test(name, async t => {
        const project = join(directory, name)
        mkdirSync(project)
        writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }')
        const files = family(name).map(found => tarballs[found] as string)
        const options = [
          '--no-audit',
          '--no-fund',
          '--no-package-lock',
          '--ignore-scripts',
          '--prefer-offline',
        ]
        const install = ['install', ...options, ...files, ...brought(name, example(name))]
        const installed = spawnSync('npm', install, { cwd: project, encoding: 'utf8' })
        t.equal(installed.status, 0, installed.stderr)
        cpSync(join('build/tarballs', `${name}.js`), join(project, 'example.js'))
        writeFileSync(join(project, 'program.js'), program(name))
        for (const node of nodes) {
          const env = { PATH: process.env['PATH'] }
          const ran = spawnSync(node, ['program.js'], {
            cwd: project,
            env,
            encoding: 'utf8',
            timeout: 60_000,
          })
          t.equal(ran.status, 0, `${node}: ${ran.stdout}${ran.stderr}`)
        }
      })
    }
    const versions = nodes.map(node => spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim())
    t.comment(`measured ${names.length} packages on ${versions.join(', ')}`)
  },
)
