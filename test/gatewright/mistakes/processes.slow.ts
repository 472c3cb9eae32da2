import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { runNode } from '../../harness/node.ts'

mkdirSync('build/processes', { recursive: true })
const directory = mkdtempSync('build/processes/')
t.teardown(() => rmSync(directory, { recursive: true, force: true }))

/** One server that a process declares, and the environment in which it does. */
interface Declared {
  readonly kind?: 'perProcess' | 'reads' | 'test'
  readonly audience?: string
  readonly env?: Readonly<Record<string, string>>
}

// Declares each server of its argument in turn. A warning that was given once is not repeated.
writeFileSync(
  join(directory, 'server.mjs'),
  `
import { gatewright } from 'gatewright/node'
import { memoryStore } from 'gatewright/memory'
import { testGateway } from 'gatewright/testing'
const servers = JSON.parse(process.argv[2])
for (const { kind, audience = 'a', env = {} } of servers) {
  Object.assign(process.env, env)
  const store = memoryStore(kind === 'perProcess' ? { perProcess: true } : {})
  const given = { issuer: 'https://issuer.test', audience, store }
  const gw = gatewright(kind === 'test' ? testGateway(given).options : given)
  const declare = kind === 'reads' ? gw.read : gw.write
  declare('payments.create', { scope: [] }, () => ({ status: 200 }))
  for (const name of Object.keys(env)) delete process.env[name]
  await new Promise(resolve => setImmediate(resolve))
}`,
)
writeFileSync(
  join(directory, 'cluster.mjs'),
  `import cluster from 'node:cluster'
if (cluster.isPrimary) cluster.fork(process.env)
else {
  await import('./server.mjs')
  cluster.worker.disconnect()
}`,
)

const temporaryFolder = (): string => mkdtempSync(join(directory, 'tmp-'))

/** Runs a process that declares servers, and returns what it warns of. */
async function warnings(
  servers: readonly Declared[],
  { folder = temporaryFolder(), script = 'server.mjs' } = {},
): Promise<string> {
  const env = { PATH: process.env['PATH'], TMPDIR: resolve(folder) }
  return (await runNode([join(directory, script), JSON.stringify(servers)], env)).output
}

/** How often the warning was given. */
const count = (output: string): number => output.match(/memoryStore\(\) is in /g)?.length ?? 0

const ended = temporaryFolder()
const first = await warnings([{}], { folder: ended })
/** The file in which the first process of the server has written its id. */
const [claim = ''] = readdirSync(ended).filter(name => name.startsWith('gatewright-'))

/** Returns a temporary folder in which this process has declared the server. */
function withServer(): string {
  const folder = temporaryFolder()
  writeFileSync(join(folder, claim), String(process.pid))
  return folder
}

t.test('a memory store warns once in a worker and beside another process of its server', async t => {
  const cluster = await warnings([{}, { env: { NODE_APP_INSTANCE: '0' } }], { script: 'cluster.mjs' })
  t.match(cluster, /a worker of node:cluster/)
  t.equal(count(cluster), 1, 'once')
  for (const instance of ['0', '1'])
    t.match(
      await warnings([{ env: { NODE_APP_INSTANCE: instance } }]),
      /a process of PM2 \(NODE_APP_INSTANCE\)/,
    )
  const other = await warnings([{}, {}], { folder: withServer() })
  t.match(
    other,
    /\[GATEWRIGHT_MEMORY_STORAGE\].*memoryStore\(\) is in .*Choose redisStore, postgresStore or sqliteStore, or say/,
  )
  t.match(
    other,
    new RegExp(`several processes with this issuer and audience \\(the other is ${process.pid}\\)`),
  )
  t.equal(count(other), 1, 'once')
})

t.test('says nothing where one process has the store, or where it is meant', async t => {
  t.equal(first, '', 'alone')
  const folder = withServer()
  const silent: Declared[] = [
    { audience: 'another-audience' },
    { kind: 'perProcess' },
    { kind: 'reads' },
    { kind: 'test' },
    ...['NODE_TEST_CONTEXT', 'JEST_WORKER_ID', 'VITEST'].map(runner => ({ env: { [runner]: '1' } })),
    { env: { NODE_ENV: 'test' } },
  ]
  t.equal(await warnings(silent, { folder }), '')
  t.equal(count(await warnings([...silent, {}], { folder })), 1, 'without any of these')
})

t.test('a process that has ended, another file and a missing folder are no other process', async t => {
  const linked = temporaryFolder()
  const victim = join(directory, 'victim')
  writeFileSync(victim, 'not a number')
  symlinkSync(resolve(victim), join(linked, claim))
  const missing = join(directory, 'missing')
  for (const [what, folder] of Object.entries({ ended, linked, missing }))
    t.equal(await warnings([{}], { folder }), '', what)
})
