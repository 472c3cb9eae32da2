// The record, what a write spends and the row that the handler writes with an ORM are one transaction.
import { migrateIdempotency, postgresTransactionalIdempotency } from '@gatewright/idempotency-store/postgres'
import { sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { migrateSpends, postgresSpends } from '@gatewright/scope-guard/postgres'
import { sqliteSpends } from '@gatewright/scope-guard/sqlite'
import t from 'tap'
import { openOrm, ORM_NAMES } from '../harness/databases/orms.ts'
import { turnOf } from '../harness/turns.ts'
import { response, write } from './support.ts'

const ACCOUNT = 'acc_1'
const SPEND = { counter: 'day', unit: 'cents', cap: 10, amount: 6, expiresAt: null } as const

for (const name of turnOf(ORM_NAMES, 1))
  t.test(`${name}: commits the record, the spend and the row together, or none of them`, async t => {
    const { orms, connections, close } = await openOrm(name, 1, 3)
    t.teardown(close)
    const { db, pay } = orms[0]!
    const client = connections[0] as SqlClient
    await migrateIdempotency(client)
    await migrateSpends(client)
    const isSqlite = client.dialect === 'sqlite'
    const spends = isSqlite ? sqliteSpends : postgresSpends
    const { run } = createTransactionalIdempotency({
      db,
      storage: isSqlite ? sqliteIdempotency : postgresTransactionalIdempotency,
    })
    const payment = (key: string, end: () => ReturnType<typeof response>) =>
      run(write({ key }), async (tx, { effectId }) => {
        await pay(tx, effectId)
        const { outcome } = await spends(db.queries(tx)).reserve(ACCOUNT, effectId, [SPEND], 0)
        return outcome === 'held' ? end() : response(402)
      })
    const committed = async () => ({
      records: (await rows(client, 'select digest from gw_idempotency')).length,
      payments: (await rows(client, 'select id from payments')).length,
      holds: (await rows(client, 'select hold from gw_spend_holds')).length,
      spent: (await spends(client).usage(ACCOUNT, ['day']))[0]?.used,
    })
    const none = { records: 0, payments: 0, holds: 0, spent: 0 }
    const one = { records: 1, payments: 1, holds: 1, spent: 6 }

    const failing = payment('fails-00001', () => {
      throw new Error('no such plan')
    })
    await t.rejects(failing, { message: 'no such plan' })
    t.same(await committed(), none)
    await payment('not-final-01', () => response(402))
    t.same(await committed(), none)
    t.match(await payment('paid-000001', () => response(201)), {
      ok: true,
      value: { response: response(201) },
    })
    t.same(await committed(), one)
    t.match(await payment('over-the-cap', () => response(201)), {
      ok: true,
      value: { response: response(402) },
    })
    t.same(await committed(), one)
  })
