import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { runNode } from '../../harness/node.ts'

mkdirSync('build/processes', { recursive: true })
const directory = mkdtempSync('build/processes/')
t.teardown(() => rmSync(directory, { recursive: true, force: true }))

const SERVER = `
import { gatewright } from 'gatewright/node'
import { memoryStore } from 'gatewright/memory'
import { testGateway } from 'gatewright/testing'
const [kind = 'memory', audience = 'a'] = process.argv.slice(2)
const store = memoryStore(kind === 'perProcess' ? { perProcess: true } : {})
const given = { issuer: 'https://issuer.test', audience, store }
const gw = gatewright(kind === 'test' ? testGateway(given).options : given)
const declare = kind === 'reads' ? gw.read : gw.write
declare('payments.create', { scope: [] }, () => ({ status: 200 }))`
writeFileSync(join(directory, 'server.mjs'), SERVER)
writeFileSync(
  join(directory, 'cluster.mjs'),
  `import cluster from 'node:cluster'
if (cluster.isPrimary) cluster.fork(process.env)
else {
  await import('./server.mjs')
  cluster.worker.disconnect()
}`,
)

/** Runs a server in a temporary folder, and returns what it warns of. */
async function warnings(
  { folder = mkdtempSync(join(directory, 'tmp-')), script = 'server.mjs', args = [] as string[] } = {},
  env: Record<string, string> = {},
): Promise<string> {
  const { PATH } = process.env
  const { output } = await runNode([join(directory, script), ...args], {
    PATH,
    TMPDIR: resolve(folder),
    ...env,
  })
  return output
}

/** Returns a temporary folder in which this process has declared a server. */
async function withServer(): Promise<string> {
  const folder = mkdtempSync(join(directory, 'tmp-'))
  await warnings({ folder })
  const [name = ''] = readdirSync(folder).filter(each => each.startsWith('gatewright-'))
  writeFileSync(join(folder, name), String(process.pid))
  return folder
}

t.test('a memory store warns in a worker and beside another process of its server', async t => {
  const said =
    /\[GATEWRIGHT_MEMORY_STORAGE\].*memoryStore\(\) is in .*Choose redisStore, postgresStore or sqliteStore, or say/
  t.match(await warnings({ script: 'cluster.mjs' }), /a worker of node:cluster/)
  for (const instance of ['0', '1'])
    t.match(await warnings({}, { NODE_APP_INSTANCE: instance }), /a process of PM2 \(NODE_APP_INSTANCE\)/)
  const other = await warnings({ folder: await withServer() })
  t.match(other, said)
  t.match(
    other,
    new RegExp(`several processes with this issuer and audience \\(the other is ${process.pid}\\)`),
  )
  t.equal(other.match(/memoryStore\(\)/g)?.length, 1, 'once')
})

t.test('says nothing where one process has the store, or where it is meant', async t => {
  const folder = await withServer()
  t.equal(await warnings(), '', 'alone')
  t.equal(await warnings({ folder, args: ['memory', 'another-audience'] }), '', 'of another server')
  t.equal(await warnings({ folder, args: ['perProcess'] }), '')
  t.equal(await warnings({ folder, args: ['reads'] }), '', 'without writes')
  t.equal(await warnings({ folder, args: ['test'] }), '', 'testGateway')
  for (const runner of ['NODE_TEST_CONTEXT', 'JEST_WORKER_ID', 'VITEST'])
    t.equal(await warnings({ folder }, { [runner]: '1' }), '', runner)
  t.equal(await warnings({ folder }, { NODE_ENV: 'test' }), '')
  t.equal(
    await warnings({ script: 'cluster.mjs', args: [] }, { NODE_APP_INSTANCE: '0' }).then(lines),
    1,
    'once',
  )
})

const lines = (output: string): number => output.match(/memoryStore\(\)/g)?.length ?? 0

t.test('a process that has ended, another file and a missing folder are no other process', async t => {
  const ended = mkdtempSync(join(directory, 'tmp-'))
  await warnings({ folder: ended })
  t.equal(await warnings({ folder: ended }), '', 'the first process has ended')
  const folder = await withServer()
  const [name = ''] = readdirSync(folder)
  const victim = join(directory, 'victim')
  writeFileSync(victim, 'not a number')
  rmSync(join(folder, name))
  symlinkSync(resolve(victim), join(folder, name))
  t.equal(await warnings({ folder }), '')
  t.same(await warnings({ folder: join(directory, 'missing') }), '')
})
