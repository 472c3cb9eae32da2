import { GRACE_MS } from '@gatewright/kernel'
import { rows } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import { migrateNonces, postgresNonces } from '@gatewright/signature-verifier/postgres'
import {
  challengeStorageContract,
  challengeStorageFaults,
  nonceStorageContract,
  nonceStorageFaults,
} from '@gatewright/signature-verifier/testing'
import t from 'tap'
import { faultyPostgres, faultyStores } from '../../harness/databases/faulty.ts'
import { openKeptPostgres } from '../../harness/databases/kept-postgres.ts'
import { migratesAtOnce } from '../../harness/databases/store-cases.ts'
import { runner } from '../../harness/runner.ts'

const open = async () => {
  const { connections, close } = await openKeptPostgres(4, migrateNonces)
  return { connections: connections.map(db => postgresNonces(db)), close }
}
nonceStorageContract(runner, 'Postgres', open)
challengeStorageContract(runner, 'Postgres', open)

const hurt = () => faultyStores(faultyPostgres(migrateNonces), db => postgresNonces(db))
nonceStorageFaults(runner, 'Postgres', hurt)
challengeStorageFaults(runner, 'Postgres', hurt)

t.test('lets one of two open transactions win, and the other one when the first rolls back', async t => {
  const { connections, close } = await openKeptPostgres(2, migrateNonces)
  t.teardown(close)
  const [one, two] = connections
  const attempt = async (commit: boolean): Promise<boolean> => {
    let waiting: Promise<boolean> | undefined
    await one!
      .transaction(async tx => {
        await postgresNonces(tx).claim('key', 2000, 1000)
        // The second transaction is open now and waits for the row of the first.
        waiting = two!.transaction(other => postgresNonces(other).claim('key', 2000, 1000))
        if (!commit) throw new Error('roll back')
      })
      .catch(() => undefined)
    return (await waiting) as boolean
  }
  t.equal(await attempt(false), true)
  t.equal(await attempt(true), false)
})

migratesAtOnce(migrateNonces, db => postgresNonces(db).claim('key', 2000, 1000))

t.test('collects no nonce that another transaction has just claimed again', async t => {
  const { connections, close } = await openKeptPostgres(3, migrateNonces)
  t.teardown(close)
  const [one, two, three] = connections
  const [now, later] = [10 * GRACE_MS, 20 * GRACE_MS]
  const nonces = postgresNonces(two!)
  t.equal(await nonces.claim('nonce', 1, 0), true)
  let collecting: Promise<number> | undefined
  await one!.transaction(async tx => {
    t.equal(await postgresNonces(tx).claim('nonce', later, now), true)
    collecting = nonces.collect(10, now)
    const waiting = `select count(*) as n from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like 'delete from gw_nonces%'`
    while (toInteger((await rows(three!, waiting))[0]?.['n']) === 0);
  })
  t.equal(await collecting, 0)
  t.equal(await nonces.claim('nonce', later, now), false, 'a nonce is accepted once')
})
