// What `gatewright distribute` refuses. How it distributes is in `npm run test:citus`, because no package has Citus.
import t from 'tap'
import { gatewright } from '../../harness/gatewright.ts'
import { hostSecrets, hostStoresEnv } from '../../harness/host-stores.ts'
import { temporaryFolder } from '../../harness/files.ts'

t.test('refuses an embedded database', async t => {
  const folder = temporaryFolder(t)
  t.match(await gatewright(['distribute'], { ...hostSecrets(), DATA_DIR: folder }), {
    code: 1,
    output: /it is embedded, on one machine: set DATABASE_URL to the coordinator of Citus/,
  })
})

t.test('refuses tables that miss a version, and a database without Citus', async t => {
  const { env, drop } = await hostStoresEnv('postgres')
  t.teardown(drop)
  t.match(await gatewright(['distribute', '--plan'], env), {
    code: 1,
    output: /its tables miss versions \(nonces 1, .*\): run npx gatewright migrate first/,
  })
  t.match(await gatewright(['migrate'], env), { code: 0 })
  for (const flag of ['--plan', '--concurrently'])
    t.match(await gatewright(['distribute', flag, '--yes'], env), {
      code: 1,
      output: /it lacks the extension citus: run "create extension citus" on each machine/,
    })
})
