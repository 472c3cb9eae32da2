import type { LimiterStore } from '@gatewright/scope-guard'
import { Redis } from 'ioredis'
import { RateLimiterPostgres, RateLimiterRedis } from 'rate-limiter-flexible'
import { createClient } from 'redis'
import t from 'tap'
import { faultProxy } from '../../harness/proxy.ts'
import { openPostgresPool, uniqueName } from '../../harness/stores.ts'
import { bench } from '../issuer.ts'

const REDIS = process.env['TEST_REDIS_URL'] as string
const rule = { operation: 'cards.list', allOf: [] }

/** Opens a client for a store and says how to build limiters on it. */
type Open = () => Promise<{ store: LimiterStore; close(): Promise<unknown> }>

const nodeRedis = async (url = REDIS) => {
  const client = createClient({ url, disableOfflineQueue: true, socket: { reconnectStrategy: false } })
  client.on('error', () => {})
  await client.connect()
  const prefix = uniqueName()
  const store: LimiterStore = settings =>
    new RateLimiterRedis({
      ...settings,
      keyPrefix: `${prefix}:${settings.keyPrefix}`,
      storeClient: client,
      useRedisPackage: true,
    })
  return { store, client, close: async () => client.isOpen && client.destroy() }
}

const ioredis = async () => {
  const client = new Redis(REDIS, { enableOfflineQueue: false, maxRetriesPerRequest: 1, lazyConnect: true })
  client.on('error', () => {})
  await client.connect()
  const prefix = uniqueName()
  const store: LimiterStore = settings =>
    new RateLimiterRedis({ ...settings, keyPrefix: `${prefix}:${settings.keyPrefix}`, storeClient: client })
  return { store, close: async () => client.disconnect() }
}

const postgres = async () => {
  const pool = await openPostgresPool(uniqueName(), 4)
  await new Promise<void>((resolve, reject) => {
    const settings = { storeClient: pool, storeType: 'pool', tableName: 'rate_limits' }
    const limiter = new RateLimiterPostgres({ ...settings, points: 1, duration: 1 }, error =>
      error ? reject(error) : resolve(void limiter),
    )
  })
  const store: LimiterStore = settings =>
    new RateLimiterPostgres({
      ...settings,
      storeClient: pool,
      storeType: 'pool',
      tableName: 'rate_limits',
      tableCreated: true,
    })
  return { store, close: async () => pool.end() }
}

const stores: Record<string, Open> = { 'node-redis': () => nodeRedis(), ioredis, Postgres: postgres }

for (const [name, open] of Object.entries(stores)) {
  t.test(`two hosts share their limits on ${name} and together accept exactly the points`, async t => {
    const { store, close } = await open()
    t.teardown(close)
    const limits = [
      { name: 'perKey', points: 20, windowSeconds: 60, per: 'key', store, storeTimeoutMs: 20_000 },
      { name: 'perAccount', points: 30, windowSeconds: 60, per: 'account', store, storeTimeoutMs: 20_000 },
    ] as const
    const hosts = [await bench({ limits }), await bench({ limits })] as const
    const tokens = await Promise.all(hosts.map(host => host.bearer()))
    const all = await Promise.all(
      Array.from({ length: 80 }, async (_, n) =>
        hosts[n % 2]!.guard.check({ authorization: tokens[n % 2] }, rule),
      ),
    )
    t.equal(all.filter(({ ok }) => ok).length, 20)
    // 60 refusals by the key gave their points of the account back, so another key still has 10.
    const other = await hosts[0].bearer({ keyId: 'key_2' })
    const verdicts = await Promise.all(
      Array.from({ length: 20 }, async () => hosts[0].guard.check({ authorization: other }, rule)),
    )
    t.equal(verdicts.filter(({ ok }) => ok).length, 10)
  })
}

t.test('all limits of a request leave in one round trip', async t => {
  const { client, close } = await nodeRedis()
  t.teardown(close)
  let trips = 0
  let under = 0
  const counting = {
    eval: (...args: Parameters<typeof client.eval>) => {
      // A trip begins when a command is sent while no other is under way.
      if (under++ === 0) trips++
      return client.eval(...args).finally(() => under--)
    },
  }
  const store: LimiterStore = settings =>
    new RateLimiterRedis({ ...settings, storeClient: counting, useRedisPackage: true })
  const limits = ['a', 'b', 'c'].map(
    name =>
      ({
        name: uniqueName() + name,
        points: 9,
        windowSeconds: 60,
        per: 'key',
        store,
        storeTimeoutMs: 20_000,
      }) as const,
  )
  const { guard, bearer } = await bench({ limits })
  t.match(await guard.check({ authorization: await bearer() }, rule), { ok: true })
  t.equal(trips, 1)
})

for (const harm of ['cutBefore', 'cutAfter', 'malformed'] as const) {
  t.test(`throws a fault when Redis fails: ${harm}`, async t => {
    const proxy = await faultProxy(REDIS, () => Buffer.from('+PONG\r\n'))
    const { store, close } = await nodeRedis(proxy.url)
    t.teardown(async () => {
      await close()
      await proxy.close()
    })
    const limits = [
      { name: 'perKey', points: 5, windowSeconds: 60, per: 'key', store, storeTimeoutMs: 20_000 },
    ] as const
    const { guard, bearer } = await bench({ limits })
    const authorization = await bearer()
    t.match(await guard.check({ authorization }, rule), { ok: true })
    proxy.harm = harm
    await t.rejects(async () => guard.check({ authorization }, rule), { name: 'Fault' })
  })
}
