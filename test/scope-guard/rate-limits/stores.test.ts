import { faultProxy } from '@gatewright/kernel/testing'
import type { LimiterStore } from '@gatewright/scope-guard'
import { Redis } from 'ioredis'
import { RateLimiterPostgres, RateLimiterRedis } from 'rate-limiter-flexible'
import { createClient } from 'redis'
import t, { type Test } from 'tap'
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

/** Sends requests of one key to two guards in turn and counts those that pass. */
async function accepted(
  hosts: readonly Awaited<ReturnType<typeof bench>>[],
  keyId: string,
  requests: number,
) {
  const tokens = await Promise.all(hosts.map(host => host.bearer({ keyId })))
  const verdicts = await Promise.all(
    Array.from({ length: requests }, async (_, n) => {
      const turn = n % hosts.length
      return hosts[turn]!.guard.check({ authorization: tokens[turn] }, rule)
    }),
  )
  return verdicts.filter(({ ok }) => ok).length
}

for (const [name, open] of Object.entries(stores)) {
  const twoHosts = async (t: Test, { perKey, perAccount }: { perKey: number; perAccount: number }) => {
    const { store, close } = await open()
    t.teardown(close)
    const shared = { windowSeconds: 60, store, storeTimeoutMs: 20_000 }
    const limits = [
      { ...shared, name: 'perKey', points: perKey, per: 'key' },
      { ...shared, name: 'perAccount', points: perAccount, per: 'account' },
    ] as const
    return [await bench({ limits }), await bench({ limits })] as const
  }

  t.test(`two hosts share their limits on ${name} and together accept exactly the points`, async t => {
    const hosts = await twoHosts(t, { perKey: 20, perAccount: 90 })
    t.equal(await accepted(hosts, 'key_1', 80), 20)
    // 60 denials by the key gave their points of the account back, so other keys still have 70 of 90.
    const others = ['key_2', 'key_3', 'key_4', 'key_5', 'key_6']
    const passed = await Promise.all(others.map(async key => accepted(hosts, key, 20)))
    t.equal(
      passed.reduce((a, b) => a + b),
      70,
    )
  })

  t.test(
    `two hosts on ${name} never accept more than the points while denied requests hold some`,
    async t => {
      const hosts = await twoHosts(t, { perKey: 20, perAccount: 30 })
      const first = await accepted(hosts, 'key_1', 80)
      t.ok(first <= 20, `${first} of 20`)
      const others = await Promise.all(['key_2', 'key_3'].map(async key => accepted(hosts, key, 20)))
      t.ok(first + others[0]! + others[1]! <= 30, `${first}, ${others.join(', ')} of 30`)
    },
  )
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
