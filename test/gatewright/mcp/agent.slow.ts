// An agent whose connections break at every byte, on every store: there are as many effects as intents.
import Database from 'libsql'
import { postgresStore } from 'gatewright/postgres'
import { redisStore } from 'gatewright/redis'
import { sqliteStore } from 'gatewright/sqlite'
import { createClient } from 'redis'
import t, { type Test } from 'tap'
import { COMMAND_OPTIONS, openPostgresPool, uniqueName } from '../../harness/stores.ts'
import { turnOf } from '../../harness/turns.ts'
import { createWorld, type World } from '../world.ts'
import { checkCuts, checkCap } from './agent.ts'

const STORES: Readonly<Record<string, (t: Test) => Promise<World>>> = {
  memory: async () => createWorld(),
  async SQLite() {
    const store = sqliteStore(new Database(':memory:'))
    await store.migrate()
    return createWorld(store)
  },
  async Redis(t) {
    const client = createClient({
      url: process.env['TEST_REDIS_URL'] as string,
      disableOfflineQueue: true,
      commandOptions: COMMAND_OPTIONS,
    })
    await client.connect()
    t.teardown(() => client.destroy())
    return createWorld(redisStore(client, { prefix: `${uniqueName()}:` }))
  },
  async Postgres(t) {
    const pool = await openPostgresPool(uniqueName(), 4)
    t.teardown(() => pool.end())
    const store = postgresStore(pool)
    await store.migrate()
    return createWorld(store)
  },
}

const stores = Object.entries(STORES)
const cuts = stores.flatMap(([name, open]) =>
  (['modern', 'legacy'] as const).map(era => ({ name, open, era })),
)
/** A whole row of cuts costs 10 s of CPU: two rows a day. */
for (const { name, open, era } of turnOf(cuts, 2))
  t.test(`${name}, ${era}: a connection that breaks at any byte changes nothing about an intent`, async t =>
    checkCuts(t, { world: await open(t), era, every: 1 }),
  )
for (const [name, open] of stores)
  t.test(
    `${name}: of 1,000 calls at once by 50 sessions under one cap, exactly those run that fit`,
    async t => checkCap(t, await open(t), 1000),
  )
