import {
  migrateIdempotency,
  postgresIdempotency,
  postgresTransactionalIdempotency,
} from '@gatewright/idempotency-store/postgres'
import { idempotencyStorageContract } from '@gatewright/idempotency-store/testing'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import { rows } from '@gatewright/kernel/sql'
import { race, sqlClientContract } from '@gatewright/kernel/testing'
import { migrateSpends, postgresSpends } from '@gatewright/scope-guard/postgres'
import { spendStorageContract } from '@gatewright/scope-guard/testing'
import t from 'tap'
import { openPrisma } from './prisma.ts'
import { runner } from '../../../harness/runner.ts'
import { response, write } from '../../../idempotency-store/support.ts'

const { connections, pay, close } = await openPrisma(3, 3)
t.teardown(close)
const db = connections[0]!
await migrateIdempotency(db)
await migrateSpends(db)
const on = async <Storage>(storage: (client: (typeof connections)[number]) => Storage) => ({
  connections: connections.map(client => storage(client)),
  close: async () => {},
})

sqlClientContract(runner, 'Prisma', () => on(client => client))
idempotencyStorageContract(runner, 'Prisma', () => on(postgresIdempotency))
spendStorageContract(runner, 'Prisma', () => on(postgresSpends))

t.test('runs one of 30 simultaneous duplicates, whose row Prisma writes with what it spends', async t => {
  const spend = { counter: 'day', unit: 'cents', cap: 10, amount: 6, expiresAt: null } as const
  const hosts = connections.map(client => ({
    client,
    ...createTransactionalIdempotency({ db: client, storage: postgresTransactionalIdempotency }),
  }))
  const payments = async () => (await rows(db, 'select id from payments')).length
  const once = (index: number, key: string, ends: () => ReturnType<typeof response>) => {
    const { client, run } = hosts[index % hosts.length]!
    return run(write({ key }), async (tx, { effectId }) => {
      await pay(tx, effectId)
      await postgresSpends(client.queries(tx)).reserve('acc_1', effectId, [spend], 0)
      return ends()
    })
  }
  const failing = once(0, 'fails-00001', () => {
    throw new Error('no such plan')
  })
  await t.rejects(failing, { message: 'no such plan' })
  t.equal(await payments(), 0)
  t.same(await postgresSpends(db).usage('acc_1', ['day']), [{ used: 0, held: 0 }])
  const results = await race(30, index => once(index, 'paid-000001', () => response(201)))
  t.equal(results.filter(result => result.ok && !result.value.replayed).length, 1)
  t.equal(results.filter(result => result.ok && result.value.replayed).length, 29)
  t.equal(await payments(), 1)
  t.same(await postgresSpends(db).usage('acc_1', ['day']), [{ used: 6, held: 6 }])
})
