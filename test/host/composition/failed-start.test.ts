// A host that does not start leaves nothing open: the process of a test, or of a supervisor that tries again, could not end.
import { join } from 'node:path'
import t from 'tap'
import { hostStoresEnv } from '../../harness/host-stores.ts'
import { runNode } from '../../harness/node.ts'
import { temporaryFolder } from '../../harness/files.ts'

const folder = temporaryFolder(t)

/** Starts hosts on the stores of each environment that fail in different steps, says why, and ends only if nothing is open. */
const SCRIPT = `
  import { runHost, HostFactories } from '@gatewright/host'
    import { readHostConfig } from '@gatewright/host/config'
  import { scopeCatalogue } from '@gatewright/kernel'
  const fail = step => { throw new Error(step + ' failed') }
  class NoGuard extends HostFactories { guard() { fail('guard') } }
  class NoMetrics extends HostFactories { metrics() { fail('metrics') } }
  // Its operations need a scope that is not known.
  const { tipModule } = await import(process.cwd() + '/build/examples/own-host/tips.js')
  const scopes = scopeCatalogue(['tips.read'])
  const products = [
    { modules: [], scopes, services: new NoGuard() },
    { modules: [], scopes, services: new NoMetrics() },
    { modules: [{ start: () => fail('start') }], scopes },
    { modules: [{ operations: () => fail('operations') }], scopes },
    { modules: [tipModule], scopes },
    { modules: [{ tables: () => fail('tables') }], scopes },
  ]
  for (const env of JSON.parse(process.env.ENVIRONMENTS)) {
    const config = readHostConfig(env)
    if (!config.ok) fail(config.problems.join())
    for (const product of products)
      await runHost(config.value, product, { observe() {}, report() {} }).then(
        () => console.log('started'),
        error => console.log(error.message),
      )
  }
  // It does not keep the process running, and runs only if something else does.
  setTimeout(() => { console.log('open:', process.getActiveResourcesInfo().join()); process.exit(1) }, 10_000).unref()
`

const MESSAGES = [
  'guard failed',
  'metrics failed',
  'start failed',
  'operations failed',
  'tips.give: the scope tips.write is not a known scope; known: tips.read (the option scopes lists them)',
  'tables failed',
]

t.test('closes what a start has opened that fails, on SQLite and on Postgres with Redis', async t => {
  const { env, drop } = await hostStoresEnv('postgres+redis')
  t.teardown(drop)
  const environments = [
    { DATA_DIR: join(folder, 'embedded') },
    { ...env, DATA_DIR: join(folder, 'postgres') },
  ]
  const { code, output } = await runNode(['--input-type=module', '-e', SCRIPT], {
    ...process.env,
    ENVIRONMENTS: JSON.stringify(environments.map(each => ({ ...each, PORT: '0' }))),
  })
  t.same(output.trim().split('\n'), [...MESSAGES, ...MESSAGES])
  t.equal(code, 0)
})
