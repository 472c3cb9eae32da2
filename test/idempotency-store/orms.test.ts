import { migrateIdempotency, postgresTransactionalIdempotency } from '@gatewright/idempotency-store/postgres'
import { sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import { Fault } from '@gatewright/kernel'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { race } from '@gatewright/kernel/testing'
import t, { type Test } from 'tap'
import { openOrm, ORM_NAMES } from '../harness/databases/orms.ts'
import { sampleOf } from '../harness/random-cases.ts'
import { response, write } from './support.ts'

async function setUp(t: Test, name: string) {
  const { orms, connections, close } = await openOrm(name, 2, 3)
  t.teardown(close)
  const [db] = connections as readonly SqlClient[]
  await migrateIdempotency(db!)
  const hosts = orms.map(orm => ({
    ...orm,
    ...createTransactionalIdempotency({
      db: orm.db,
      storage: tx => (tx.dialect === 'sqlite' ? sqliteIdempotency(tx) : postgresTransactionalIdempotency(tx)),
    }),
  }))
  const payments = async (): Promise<unknown[]> =>
    (await rows(db!, 'select id from payments order by id')).map(row => row['id'])
  return { hosts, host: hosts[0]!, payments }
}

for (const name of sampleOf(ORM_NAMES))
  t.test(name, async t => {
    const { hosts, host, payments } = await setUp(t, name)

    await t.test('runs one of 30 simultaneous duplicates, whose row the ORM writes', async t => {
      const results = await race(30, index => {
        const { run, pay } = hosts[index % hosts.length]!
        return run(write(), async (tx, { effectId }) => {
          await pay(tx, effectId)
          return response(201)
        })
      })
      t.equal(results.filter(result => result.ok && !result.value.replayed).length, 1)
      for (const result of results) t.match(result, { ok: true, value: { response: response(201) } })
      t.equal((await payments()).length, 1)
    })

    await t.test(
      'rolls back the row of the ORM when the response is not final, or the handler throws',
      async t => {
        const before = await payments()
        const failed = await host.run(write({ key: 'not-final-01' }), async tx => {
          await host.pay(tx, 'not-final')
          return response(402)
        })
        t.match(failed, { ok: true, value: { response: response(402), expiresAt: null } })
        const thrown = host.run(write({ key: 'throws-0001' }), async tx => {
          await host.pay(tx, 'throws')
          throw new Error('no such plan')
        })
        await t.rejects(thrown, { message: 'no such plan' })
        t.same(await payments(), before)
      },
    )

    await t.test('rejects a use of the root client in a handler, and says of which', async t => {
      const before = await payments()
      const outside = host.run(write({ key: 'outside-0001' }), async tx => {
        await host.pay(tx, 'inside')
        await host.payOutside('outside')
        return response(201)
      })
      const error: unknown = await outside.then(
        () => undefined,
        (reason: unknown) => reason,
      )
      const fault = faultOf(error)
      t.equal(fault?.code, 'ERR_OUTSIDE_TRANSACTION')
      t.match(fault?.message, /^the root client of from\w+ .*was used inside its own transaction/)
      t.same(await payments(), before)
      await host.payOutside('after')
      t.ok((await payments()).includes('after'))
    })

    await t.test('stores nothing when the handler swallowed the error of a statement', async t => {
      await host.payOutside('taken')
      const before = await payments()
      const run = host.run(write({ key: 'swallowed-01' }), async tx => {
        await host.pay(tx, 'new')
        await host.pay(tx, 'taken').catch(() => undefined)
        return response(201)
      })
      const committed = await run.then(
        () => true,
        () => false,
      )
      t.equal(committed, host.db.dialect === 'sqlite')
      t.equal((await payments()).includes('new'), committed)
      t.equal((await payments()).length, before.length + (committed ? 1 : 0))
    })
  })

/** An ORM may wrap the error of a connection that it did not get. */
function faultOf(error: unknown): Fault | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof Fault) return at
  return undefined
}
