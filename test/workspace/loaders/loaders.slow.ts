import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import t from 'tap'
import { runNode } from '../../harness/node.ts'
import { turnOf } from '../../harness/turns.ts'
import { installInto } from '../empty-project.ts'
import { tarballsIn } from '../quick-starts/tarballs.ts'
import { JEST_29_LOADERS, LOADERS } from './loaders.ts'
import { JEST_29, PACKAGES, PAID_ONCE, PROGRAMS } from './programs.ts'

// In the temporary folder, where no node_modules of this checkout lie above the project.
mkdirSync('build/loaders', { recursive: true })
t.setTimeout(1_800_000)
const directory = resolve(mkdtempSync('build/loaders/'))
t.teardown(() => rmSync(directory, { recursive: true, force: true }))
const tarballs = tarballsIn(directory)(['gatewright'])
const project = join(directory, 'project')
installInto(project, [...tarballs, ...PACKAGES])
const withJest29 = join(directory, 'jest-29')

/** Each loader with each kind of server. The quick starts run a real server of Next.js. */
const cells = Object.keys({ ...LOADERS, ...JEST_29_LOADERS }).flatMap(loader =>
  (Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[]).map(kind => ({ loader, kind })),
)

/** Returns the project of a loader. That of jest 29 is made when a cell needs it. */
function projectOf(loader: string): string {
  if (!(loader in JEST_29_LOADERS)) return project
  if (!existsSync(withJest29)) installInto(withJest29, [...tarballs, ...JEST_29])
  return withJest29
}

t.test('every loader runs a server from tarballs, which pays once', async t => {
  for (const { loader, kind } of turnOf(cells, 9)) {
    const name = `${loader}: ${kind}`
    const folder = join(projectOf(loader), name.replace(/\W+/g, '-'))
    const args = (LOADERS[loader] ?? JEST_29_LOADERS[loader])?.(folder, PROGRAMS[kind]) ?? []
    const { PATH, HOME } = process.env
    const { code, output } = await runNode(args, { PATH, HOME }, folder)
    const isTest = /jest|vitest/.test(loader)
    t.equal(code, 0, `${name} ends well: ${code === 0 ? '' : output.slice(0, 4000)}`)
    t.ok(isTest || output.includes(JSON.stringify(PAID_ONCE)), `${name} pays once`)
    t.comment(`${name}: ${code === 0 ? 'pays once' : 'fails'}`)
  }
})

/** The folders of a package and of all that it depends on, as they are installed. */
function installed(folder: string, found: Set<string> = new Set()): Set<string> {
  if (found.has(folder)) return found
  found.add(folder)
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly dependencies?: Readonly<Record<string, string>>
  }
  for (const name of Object.keys(dependencies)) {
    // One inside of the folder is measured with it.
    if (existsSync(join(folder, 'node_modules', name))) continue
    installed(join(project, 'node_modules', name), found)
  }
  return found
}

t.test('gatewright and all that it depends on take at most 8.2 MB, of which lru-cache takes 3.6', t => {
  const { stdout } = spawnSync('du', ['-ck', ...installed(join(project, 'node_modules/gatewright'))], {
    encoding: 'utf8',
  })
  const kilobytes = Number(/^(\d+)\s+total$/m.exec(stdout)?.[1])
  t.ok(kilobytes <= 8200, `${kilobytes} KB`)
  t.comment(`gatewright is installed in ${kilobytes} KB`)
  t.end()
})

t.test('the next install keeps what was installed from tarballs', t => {
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline']
  t.equal(spawnSync('npm', args, { cwd: project }).status, 0)
  for (const name of ['gatewright', '@gatewright/http', '@gatewright/kernel'])
    t.notOk(lstatSync(join(project, 'node_modules', name)).isSymbolicLink(), name)
  t.end()
})
