import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { spawnHost, type HostProcess } from '../../harness/host.ts'
import { temporaryFolder } from '../../harness/files.ts'

function dataDir(t: Test): string {
  const made = temporaryFolder(t)
  return made
}

async function started(t: Test, folder: string): Promise<HostProcess> {
  const host = await spawnHost(folder)
  t.teardown(() => host.stop('SIGKILL'))
  return host
}

const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8)
const modes = (folder: string): Record<string, string> =>
  Object.fromEntries(readdirSync(folder).map(name => [name, modeOf(join(folder, name))]))

const NAMES = [
  'host.lock',
  'host.lock-journal',
  'host.sock',
  'host.sqlite',
  'host.sqlite-shm',
  'host.sqlite-wal',
  'partner-key',
  'secrets.json',
]
const PRIVATE = Object.fromEntries(NAMES.map(name => [name, '600']))

/** The folder of a host that was killed. */
const left = join(dataDir(t), 'new')

t.test('creates a data folder that only its owner can read, whatever the umask', async t => {
  const umask = process.umask(0)
  const host = await started(t, left).finally(() => process.umask(umask))
  t.same(modes(left), PRIVATE)
  t.equal(modeOf(left), '700')
  await host.stop('SIGKILL')
})

t.test('restricts a data folder that others could read, with all files of a killed host', async t => {
  const folder = left
  // Files left by a start that was killed while it wrote its secrets, and a copy made by an operator.
  for (const name of ['secrets.json.new', 'secrets.json.bak']) writeFileSync(join(folder, name), '{}')
  t.ok(readdirSync(folder).includes('host.sqlite-wal'), 'the kill left the log of the database')
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o666)
  writeFileSync(join(folder, 'notes.txt'), 'not ours')
  chmodSync(join(folder, 'notes.txt'), 0o644)
  chmodSync(folder, 0o777)
  await started(t, folder)
  t.same(modes(folder), {
    ...PRIVATE,
    'secrets.json.new': '600',
    'secrets.json.bak': '600',
    'notes.txt': '644',
  })
  t.equal(modeOf(folder), '700')
})

t.test('keeps the mode of a shared folder such as /tmp, and restricts its own files in it', async t => {
  const folder = dataDir(t)
  chmodSync(folder, 0o1777)
  const [backups, elsewhere] = [join(folder, 'host.sqlite-backups'), join(folder, 'elsewhere')]
  mkdirSync(backups, { mode: 0o755 })
  writeFileSync(elsewhere, '', { mode: 0o644 })
  symlinkSync(elsewhere, join(folder, 'secrets.json.link'))
  await started(t, folder)
  t.equal(modeOf(backups), '755', 'no file')
  t.equal(modeOf(elsewhere), '644', 'what a link names')
  for (const path of [backups, elsewhere, join(folder, 'secrets.json.link')])
    rmSync(path, { recursive: true })
  t.same(modes(folder), PRIVATE)
  t.equal(modeOf(folder), '1777')
})
