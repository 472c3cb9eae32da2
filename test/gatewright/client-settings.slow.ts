// The stores in a process that has settings of its own for pg, Postgres, ioredis and node-redis.
import { createRateLimit } from '@gatewright/scope-guard'
import { postgresStore } from 'gatewright/postgres'
import { redisStore } from 'gatewright/redis'
import type { Store } from 'gatewright'
import pg from 'pg'
import t, { type Test } from 'tap'
import { IOREDIS_SETTINGS, NODE_REDIS_SETTINGS, PG_SETTINGS } from '../harness/databases/client-settings.ts'
import { openPostgresPool, uniqueName } from '../harness/stores.ts'
import { startExpress } from './servers.ts'
import { createWorld } from './world.ts'

/** Pays with each store of a pair at the same moment, up to the limit, and finds what was lost. */
async function assertWorks(t: Test, stores: readonly Store[]): Promise<void> {
  await stores[0]?.migrate()
  const limits = [{ name: 'perKey', points: 7, windowSeconds: 60, per: 'key' }] as const
  const worlds = stores.map(store => createWorld(store))
  const servers = await Promise.all(
    worlds.map(world => startExpress({ ...world, options: { ...world.options, limits } })),
  )
  t.teardown(() => Promise.all(servers.map(server => server.close())))
  const pay = async (turn: number, key: string): Promise<number> => {
    const response = await fetch(`${servers[turn % servers.length]?.url}/payments`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await worlds[0]?.token('payments.write')}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: '{"amountCents":2000}',
    })
    return response.status
  }
  const payTogether = (keys: readonly string[]): Promise<number[]> =>
    Promise.all(keys.map((key, turn) => pay(turn, key)))
  t.same(await payTogether(['the-same-key', 'the-same-key']), [201, 201])
  const statuses = await payTogether([...'012345'].map(n => `another-key-${n}`))
  t.same(
    statuses.toSorted((a, b) => a - b),
    [201, 201, 201, 201, 403, 429],
    'five payments fit the cap, seven requests the limit',
  )
  t.equal(worlds.flatMap(world => world.processor.calls).length, 5)

  const [store] = stores as [Store]
  await store.idempotency.begin('lost-key', 'f', 2000, 1000, { operation: 'o', account: 'a' })
  await store.idempotency.begin('last-key', 'f', 2000, 1001, { operation: 'o', account: 'a' })
  const listed = async (after?: { beganAt: number; key: string }): Promise<unknown[]> =>
    (await store.idempotency.listLost({ limit: 9, now: 9000, ...(after ? { after } : {}) })).map(
      ({ key }) => key,
    )
  t.same(await listed(), ['lost-key', 'last-key'])
  t.same(await listed({ beganAt: 1000, key: 'lost-key' }), ['last-key'])
}

for (const [name, { apply, options = '' }] of Object.entries(PG_SETTINGS))
  t.test(`Postgres, ${name}: payments, caps, limits and lost runs work`, async t => {
    t.teardown(apply())
    const schema = uniqueName()
    const first = await openPostgresPool(schema, 4)
    const pools = [first, first].map(
      pool => new pg.Pool({ ...pool.options, options: `-c search_path=${schema} ${options}` }),
    )
    t.teardown(async () => {
      await first.query(`drop schema ${schema} cascade`)
      await Promise.all([first, ...pools].map(pool => pool.end()))
    })
    await assertWorks(
      t,
      pools.map(pool => postgresStore(pool)),
    )
  })

for (const level of ['serializable', 'repeatable read'])
  t.test(`Postgres, ${level}: forty simultaneous requests of a key take forty points`, async t => {
    const schema = uniqueName()
    const first = await openPostgresPool(schema, 8)
    const pool = new pg.Pool({
      ...first.options,
      options: `-c search_path=${schema} ${PG_SETTINGS[level]?.options}`,
    })
    t.teardown(async () => {
      await first.query(`drop schema ${schema} cascade`)
      await Promise.all([first.end(), pool.end()])
    })
    const store = postgresStore(pool)
    await store.migrate()
    const limit = createRateLimit({
      name: 'perKey',
      points: 50,
      windowSeconds: 60,
      store: store.limits,
      storeTimeoutMs: 20_000,
    })
    await Promise.all(Array.from({ length: 40 }, () => limit.take('one key')))
    const last = await limit.take('one key')
    t.match(last.ok && last.value.find(([name]) => name === 'RateLimit')?.[1], /r=9;/)
  })

for (const [name, open] of Object.entries({ ...IOREDIS_SETTINGS, ...NODE_REDIS_SETTINGS }))
  t.test(`${name}: payments, caps, limits and lost runs work`, async t => {
    const opened = await Promise.all([open(), open()])
    t.teardown(() => {
      for (const { close } of opened) close()
    })
    const prefix = `${uniqueName()}:`
    await assertWorks(
      t,
      opened.map(({ client }) => redisStore(client as Parameters<typeof redisStore>[0], { prefix })),
    )
  })
