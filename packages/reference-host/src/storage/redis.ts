import { Fault } from '@gatewright/kernel'
import { fromNodeRedis, fromNodeRedisCluster, type RedisClient } from '@gatewright/kernel/redis'
import { redisStorage as nonces } from '@gatewright/signature-verifier/redis'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import { createClient, createCluster } from 'redis'
import type { RedisTarget } from '../config/config.ts'
import type { Backend } from './backend.ts'
import { inTime } from './in-time.ts'

interface RedisConnection {
  readonly client: RedisClient
  /** The client as rate-limiter-flexible takes it. */
  readonly storeClient: unknown
  close(): Promise<void>
}

/** How long a start waits for Redis. */
const CONNECT_MS = 5000
/** How long a command may take. */
const COMMAND_MS = 5000

/**
 * Moves used nonces and rate limits of a backend to Redis. Idempotency records and spend counters stay in the
 * ledger's database. Refuses a `maxmemory-policy` other than `noeviction`, since an evicted nonce could be
 * used again. `commandMs` is for tests.
 */
export async function withRedis(
  backend: Backend,
  target: RedisTarget,
  commandMs: number = COMMAND_MS,
): Promise<Backend> {
  const {
    client: unlimited,
    storeClient,
    close,
  } = await ('url' in target ? single(target.url) : cluster(target.clusterUrls))
  // A Redis whose machine is gone never answers, and sends no end of its connections.
  const late = (): Error =>
    new Fault('ERR_STORE_UNAVAILABLE', `redis did not answer within ${commandMs / 1000} s`)
  const client: RedisClient = {
    ...unlimited,
    run: (key, command) => inTime(unlimited.run(key, command), commandMs, late),
  }
  const check = async (): Promise<void> => {
    const info = String(await client.run('gw', ['INFO', 'memory']))
    const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1]
    if (policy !== 'noeviction') {
      throw new Error(`Redis has maxmemory-policy ${policy ?? 'unknown'}: set it to noeviction`)
    }
  }
  try {
    await check()
  } catch (error) {
    await close()
    throw error
  }
  return {
    ...backend,
    nonces: nonces(client),
    limiter: settings =>
      new RateLimiterRedis({ ...settings, storeClient, useRedisPackage: true, rejectIfRedisNotReady: true }),
    checks: { ...backend.checks, redis: check },
    close: async () => {
      await close()
      await backend.close()
    },
  }
}

/**
 * With `disableOfflineQueue` a command fails at once during an outage instead of waiting. The client
 * reconnects by itself.
 */
async function single(url: string): Promise<RedisConnection> {
  const redis = createClient({ url, disableOfflineQueue: true, socket: { connectTimeout: CONNECT_MS } })
  await connect(redis)
  return { client: fromNodeRedis(redis), storeClient: redis, close: async () => redis.destroy() }
}

async function cluster(urls: readonly string[]): Promise<RedisConnection> {
  const redis = createCluster({
    rootNodes: urls.map(url => ({ url })),
    defaults: { disableOfflineQueue: true, socket: { connectTimeout: CONNECT_MS } },
  })
  await connect(redis)
  return { client: fromNodeRedisCluster(redis), storeClient: redis, close: async () => redis.destroy() }
}

/**
 * Connects for the first time. A client would try without end, and the start would hang without a word. Later it reconnects for as
 * long as it takes. Fault: `ERR_STORE_UNAVAILABLE`.
 */
async function connect(redis: {
  readonly isOpen: boolean
  on(event: 'error', listener: (error: Error) => void): unknown
  connect(): Promise<unknown>
  destroy(): void
}): Promise<void> {
  let last = new Error(`no answer within ${CONNECT_MS / 1000} s`)
  redis.on('error', error => {
    last = error
  })
  try {
    await inTime(redis.connect(), CONNECT_MS, () => last)
  } catch (cause) {
    if (redis.isOpen) redis.destroy()
    throw new Fault('ERR_STORE_UNAVAILABLE', 'redis cannot be reached', { cause })
  }
}
