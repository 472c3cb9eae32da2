import { setTimeout as delay } from 'node:timers/promises'
import { fromPgPool, rows } from '@gatewright/kernel/sql'
import { manualClock } from '@gatewright/kernel/testing'
import { events } from '@gatewright/host'
import { migrateHost } from '#packages/reference-host/dist/product/migrate.js'
import pg from 'pg'
import t from 'tap'
import { cardBench, prepareCardBench } from '../card-bench.ts'
import * as internals from '../../../../harness/internals.ts'
import { openPostgresPool, uniqueName } from '../../../../harness/stores.ts'

t.test('a commit that outlives the time limit of its statement is undone', async t => {
  const schema = uniqueName()
  const pool = await openPostgresPool(schema, 3)
  const impatient = new pg.Pool({
    connectionString: process.env['TEST_POSTGRES_URL'],
    options: `-c search_path=${schema}`,
    query_timeout: 1000,
  })
  impatient.on('error', () => {})
  t.teardown(async () => {
    await impatient.end()
    await pool.query(`drop schema ${schema} cascade`)
    await pool.end()
  })
  const db = fromPgPool(pool)
  await migrateHost(db)
  await prepareCardBench(db, 'postgres')
  const clock = manualClock()
  const bench = cardBench(db, 'postgres', clock)
  await bench.addAccount('ann', 1000)
  await bench.addCard('ann', { id: 'card' })
  await rows(
    db,
    `create function slow_commit() returns trigger language plpgsql as $$ begin perform pg_sleep(2); return null; end $$`,
  )
  await rows(
    db,
    `create constraint trigger slow_commit after insert on gw_authorizations
    deferrable initially deferred for each row execute function slow_commit()`,
  )
  const { cards, store, service: authorizations } = bench
  const services = {
    db: fromPgPool(impatient),
    cards,
    store,
    authorizations,
    applyKept: async () => false,
    report: () => {},
    events: events,
    cardKeyPolicies: { read: async () => [], keep: async () => {} },
  }
  const merchant = { name: 'Shop', mcc: '5734', city: null, country: 'US' }
  const request = { id: 'auth_1', amountCents: 100, currency: 'USD', merchant }
  const about = { provider: 'sandbox', networkId: '1', cardId: 'card', now: clock.now() }
  const response = await internals.decideInTime(services, { ...request, ...about })
  t.match(response, { outcome: 'unavailable', decision: { approved: false } })
  const statusOf = async (): Promise<string | undefined> => (await store.find(db, 'auth_1'))?.status
  for (let tries = 0; tries < 200 && (await statusOf()) !== 'reversed'; tries += 1) await delay(50)
  t.equal(await statusOf(), 'reversed')
  t.equal(await bench.balance('ann'), 1000)
  t.same(await bench.faults(), [])
})
