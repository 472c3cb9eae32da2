import { rows } from '@gatewright/kernel/sql'
import t from 'tap'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { gatewright as runGatewright, jsonOf, type Ran } from '../../harness/gatewright.ts'
import { keptHostStoresEnv } from '../../harness/host-stores.ts'

const { env, drop } = await keptHostStoresEnv('postgres')
t.teardown(drop)
const gatewright = (...args: string[]): Promise<Ran> => runGatewright(args, env)

t.test('an operator lists losses of history, and accepts all of them once', async t => {
  t.match(await gatewright('history', 'list'), { code: 0, output: 'The database has lost nothing' })
  t.match(await gatewright('history', 'accept', '--yes'), { code: 0, output: 'Accepted: 0.' })
  const { db, close } = openDatabaseOf(env)
  t.teardown(close)
  const insert = `insert into gw_lost_history (host_id, found_at, acknowledged_at, kept_at) values
    ('host_a', 1800000003000, 1800000002000, 1800000001000), ('host_b', 1800000003001, 1800000002001, null)`
  await rows(db, insert)
  const { output } = await gatewright('history', 'list')
  const [, newest = '', older = ''] = output.split('\n')
  t.match(newest, /^2027-01-15T08:00:03\.001Z +- +2027-01-15T08:00:02\.001Z +- +host_b$/)
  t.match(
    older,
    /^2027-01-15T08:00:03\.000Z +2027-01-15T08:00:01\.000Z +2027-01-15T08:00:02\.000Z +- +host_a$/,
  )
  const unconfirmed = await gatewright('history', 'accept')
  t.equal(unconfirmed.code, 2)
  t.match(unconfirmed.output, /needs --yes.*make sure that there is one primary, and compare the ledger/s)
  t.match(await gatewright('history', 'accept', '--yes'), {
    code: 0,
    output: 'Accepted: 2. Hosts become ready',
  })
  t.match(await gatewright('history', 'accept', '--yes'), { code: 0, output: 'Accepted: 0.' })
  t.match(jsonOf(await gatewright('history', 'list', '--json')), [
    { hostId: 'host_b', keptAt: null, acceptedAt: String },
    { hostId: 'host_a', keptAt: '2027-01-15T08:00:01.000Z', acceptedAt: String },
  ])
})
