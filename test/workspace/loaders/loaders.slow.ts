import { lstatSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import t from 'tap'
import { runNode } from '../../harness/node.ts'
import { turnOf } from '../../harness/turns.ts'
import { installInto } from '../empty-project.ts'
import { tarballsIn } from '../quick-starts/tarballs.ts'
import { LOADERS } from './loaders.ts'
import { PACKAGES, PAID_ONCE, PROGRAMS } from './programs.ts'

// In the temporary folder, where no node_modules of this checkout lie above the project.
mkdirSync('build/loaders', { recursive: true })
t.setTimeout(600_000)
const directory = resolve(mkdtempSync('build/loaders/'))
t.teardown(() => rmSync(directory, { recursive: true, force: true }))
const project = join(directory, 'project')
installInto(project, [...tarballsIn(directory)(['gatewright']), ...PACKAGES])

/** Each loader with each kind of server. The quick starts cover Next.js, which has an entry of its own. */
const cells = Object.keys(LOADERS).flatMap(loader =>
  (Object.keys(PROGRAMS) as (keyof typeof PROGRAMS)[]).map(kind => ({ loader, kind })),
)

t.test('every loader runs a server from tarballs, which pays once', async t => {
  for (const { loader, kind } of turnOf(cells, 9)) {
    const name = `${loader}: ${kind}`
    const folder = join(project, name.replace(/\W+/g, '-'))
    const args = LOADERS[loader]?.(folder, PROGRAMS[kind]) ?? []
    const { PATH, HOME } = process.env
    const { code, output } = await runNode(args, { PATH, HOME }, folder)
    const isTest = /jest|vitest/.test(loader)
    t.equal(code, 0, `${name} ends well: ${code === 0 ? '' : output.slice(0, 4000)}`)
    t.ok(isTest || output.includes(JSON.stringify(PAID_ONCE)), `${name} pays once`)
    t.comment(`${name}: ${code === 0 ? 'pays once' : 'fails'}`)
  }
})

t.test('the next install keeps what was installed from tarballs', t => {
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline']
  t.equal(spawnSync('npm', args, { cwd: project }).status, 0)
  for (const name of ['gatewright', '@gatewright/http', '@gatewright/kernel'])
    t.notOk(lstatSync(join(project, 'node_modules', name)).isSymbolicLink(), name)
  t.end()
})
