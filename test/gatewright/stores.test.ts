import { join } from 'node:path'
import { postgresStore } from 'gatewright/postgres'
import { redisStore } from 'gatewright/redis'
import { sqliteStore } from 'gatewright/sqlite'
import type { Store } from 'gatewright'
import { Redis } from 'ioredis'
import Database from 'libsql'
import { createClient } from 'redis'
import t from 'tap'
import { openPostgresPool, uniqueName } from '../harness/stores.ts'
import { startExpress } from './servers.ts'
import { suite } from './suite.ts'
import { createWorld } from './world.ts'
import { temporaryFolder } from '../harness/files.ts'

const DIRECTORY = temporaryFolder(t)
const REDIS = process.env['TEST_REDIS_URL'] as string

/** Opens a store with a client of its own. Stores of one name share their state. */
const STORES: Readonly<Record<string, (name: string) => Promise<Store>>> = {
  async 'node-redis'(name) {
    const client = createClient({ url: REDIS, disableOfflineQueue: true })
    await client.connect()
    t.teardown(() => client.destroy())
    return redisStore(client, { prefix: `${name}:` })
  },
  async ioredis(name) {
    const client = new Redis(REDIS, { enableOfflineQueue: false, maxRetriesPerRequest: 0, lazyConnect: true })
    await client.connect()
    t.teardown(() => client.disconnect())
    return redisStore(client, { prefix: `${name}:` })
  },
  async Postgres(name) {
    const pool = await openPostgresPool(name, 4)
    t.teardown(() => pool.end())
    return postgresStore(pool)
  },
  async SQLite(name) {
    const file = join(DIRECTORY, `${name}.sqlite`)
    const [writer, reader] = [1, 2].map(() => new Database(file))
    writer?.exec('pragma journal_mode = wal')
    t.teardown(() => {
      writer?.close()
      reader?.close()
    })
    return sqliteStore(writer as Database.Database, { reader: reader as Database.Database })
  },
}

for (const [name, open] of Object.entries(STORES)) {
  suite(t, name, startExpress, async () => {
    const store = await open(uniqueName())
    await Promise.all([store.migrate(), store.migrate()])
    return createWorld(store)
  })

  t.test(`${name}: deletes what has expired`, async t => {
    const store = await open(uniqueName())
    await store.migrate()
    const { spends } = store
    const item = { counter: 'c', unit: 'cents', cap: 10, amount: 1, expiresAt: 1 } as const
    await spends?.reserve('acc', null, [item], 0)
    t.equal(await store.collect(), name.includes('redis') ? 0 : 1)
    t.equal(await store.collect(), 0)
  })
}

for (const [name, open] of Object.entries(STORES)) {
  // One process has a database of SQLite to itself.
  if (name === 'SQLite') continue
  t.test(`${name}: two servers share records, caps and rate limits`, async t => {
    const space = uniqueName()
    const first = createWorld(await open(space))
    const second = createWorld(await open(space))
    await first.options.store.migrate()
    const limits = [{ name: 'perKey', points: 20, windowSeconds: 60, per: 'key' }] as const
    const servers = await Promise.all(
      [first, second].map(world => startExpress({ ...world, options: { ...world.options, limits } })),
    )
    t.teardown(() => Promise.all(servers.map(server => server.close())))
    const pay = async (turn: number, key: string, account = 'ann'): Promise<number> => {
      const response = await fetch(`${servers[turn % 2]?.url}/payments`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${await first.token('payments.write', account)}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: '{"amountCents":2000}',
      })
      return response.status
    }
    const same = await Promise.all(Array.from({ length: 6 }, (_, turn) => pay(turn, 'the-same-key')))
    t.same(same, [201, 201, 201, 201, 201, 201])
    t.equal(first.processor.calls.length + second.processor.calls.length, 1)
    const others = await Promise.all(Array.from({ length: 8 }, (_, turn) => pay(turn, `other-key-${turn}`)))
    t.equal(others.filter(status => status === 201).length, 4, 'five payments of 2000 fit under the cap')
    const limited = await Promise.all(Array.from({ length: 8 }, (_, turn) => pay(turn, `more-key-${turn}`)))
    t.equal(limited.filter(status => status === 429).length, 2, '22 requests, of which 20 may pass')
  })
}
