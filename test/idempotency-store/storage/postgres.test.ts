import {
  migrateIdempotency,
  postgresIdempotency,
  postgresTransactionalIdempotency,
} from '@gatewright/idempotency-store/postgres'
import { idempotencyStorageContract, idempotencyStorageFaults } from '@gatewright/idempotency-store/testing'
import { rows } from '@gatewright/kernel/sql'
import t from 'tap'
import { faultyPostgres, faultyStores } from '../../harness/databases/faulty.ts'
import { openKeptPostgres } from '../../harness/databases/kept-postgres.ts'
import { migratesAtOnce } from '../../harness/databases/store-cases.ts'
import { runner } from '../../harness/runner.ts'

idempotencyStorageContract(runner, 'Postgres', async () => {
  const { connections, close } = await openKeptPostgres(4, migrateIdempotency)
  return { connections: connections.map(db => postgresIdempotency(db)), close }
})

idempotencyStorageFaults(runner, 'Postgres', () =>
  faultyStores(faultyPostgres(migrateIdempotency), db => postgresIdempotency(db)),
)

t.test('returns running soon while another transaction has the key', async t => {
  const { connections, close } = await openKeptPostgres(2, migrateIdempotency)
  t.teardown(close)
  const [one, two] = connections
  await one!.transaction(async tx => {
    const fence = (await postgresTransactionalIdempotency(tx).begin('key', 'f', 2000, 1000)) as {
      fence: number
    }
    t.match(fence, { state: 'started', fence: 1000 })
    const meanwhile = two!.transaction(async other => {
      const { state } = await postgresTransactionalIdempotency(other).begin('key', 'f', 2000, 1000)
      throw new Error(state)
    })
    await t.rejects(meanwhile, { message: 'running' })
    await postgresTransactionalIdempotency(tx).end(
      'key',
      1000,
      { state: 'done', response: '{}', expiresAt: 9000 },
      1000,
    )
  })
  const after = await two!.transaction(tx =>
    postgresTransactionalIdempotency(tx).begin('key', 'f', 2000, 1000),
  )
  t.same(after, { state: 'done', response: '{}', expiresAt: 9000 })
})

t.test('starts one of two open transactions, and the other when the first rolls back', async t => {
  const { connections, close } = await openKeptPostgres(2, migrateIdempotency)
  t.teardown(close)
  const [one, two] = connections
  const attempt = async (commit: boolean) => {
    let waiting: Promise<unknown> | undefined
    const first = one!.transaction(async tx => {
      await postgresIdempotency(tx).begin('key', 'f', 2000, 1000)
      // The second transaction is open now and waits for the row of the first.
      waiting = two!.transaction(other => postgresIdempotency(other).begin('key', 'f', 2000, 1000))
      if (!commit) throw new Error('roll back')
    })
    await first.catch(() => undefined)
    const second = await waiting
    await rows(one!, 'delete from gw_idempotency')
    return second
  }
  t.match(await attempt(false), { state: 'started' })
  t.same(await attempt(true), { state: 'running' })
})

migratesAtOnce(migrateIdempotency, db => postgresIdempotency(db).begin('key', 'f', 2000, 1000))
