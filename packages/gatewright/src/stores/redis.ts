import { redisIdempotency } from '@gatewright/idempotency-store/redis'
import { checkOptions } from '@gatewright/kernel/internal'
import { connectOnDemand } from '@gatewright/kernel/internal/redis'
import { fromIoredis, fromNodeRedis, fromNodeRedisCluster, type RedisClient } from '@gatewright/kernel/redis'
import { redisApprovals, redisSpends } from '@gatewright/scope-guard/redis'
import RateLimiterRedis from 'rate-limiter-flexible/lib/RateLimiterRedis.js'
import type { Store } from '../index.ts'
import { collector, nameOfGiven } from './store.ts'

/** A client of ioredis. */
export type Ioredis = Parameters<typeof fromIoredis>[0]
/** A client of node-redis, or of its cluster. */
export type NodeRedis = (Parameters<typeof fromNodeRedis>[0] | Parameters<typeof fromNodeRedisCluster>[0]) & {
  /** Returns the same client with other types of replies. */
  withTypeMapping?(types: object): unknown
}

/** Options of `redisStore`. */
export interface RedisStoreOptions {
  /** Begins every key. Default `gw:`. */
  readonly prefix?: string
}

/**
 * Keeps everything in Redis, with your client of node-redis or ioredis, or its cluster. It is never opened, closed or configured
 * here: set `disableOfflineQueue: true` (ioredis: `enableOfflineQueue: false`), so that an outage is an error and not a wait. Redis
 * must run with `maxmemory-policy noeviction`, which `migrate()` checks. See docs/storage.md for what a failover can lose.
 */
export function redisStore(client: NodeRedis | Ioredis, options: RedisStoreOptions = {}): Required<Store> {
  const { prefix } = checkOptions('redisStore', options, { prefix: { default: 'gw:' } })
  const isIoredis = typeof (client as Partial<Ioredis> | null)?.call === 'function'
  if (!isIoredis && typeof (client as Partial<NodeRedis> | null)?.sendCommand !== 'function')
    throw new TypeError(
      `redisStore: client must be a client of node-redis or ioredis, got ${nameOfGiven(client)}`,
    )
  const redis = isIoredis ? fromIoredis(client as Ioredis) : nodeRedis(client as NodeRedis)
  const ports = {
    idempotency: redisIdempotency(redis, { prefix: `${prefix}idempotency:` }),
    spends: redisSpends(redis, { prefix: `${prefix}spend:` }),
    approvals: redisApprovals(redis, { prefix: `${prefix}approvals:` }),
  }
  return {
    ...ports,
    onlyProcess: false,
    limits(settings) {
      const limiter = new RateLimiterRedis({
        ...settings,
        keyPrefix: `${prefix}${settings.keyPrefix}`,
        storeClient: isIoredis ? client : ((client as NodeRedis).withTypeMapping?.({}) ?? client),
        useRedisPackage: !isIoredis,
        rejectIfRedisNotReady: true,
      })
      return isIoredis ? connectedFirst(limiter, client as Ioredis) : limiter
    },
    migrate: () => assertKeepsKeys(redis, prefix),
    collect: collector(ports),
  }
}

/**
 * Throws if Redis (of a cluster, one of its masters) may delete keys before they expire. Where it does not say so, as for a user who may not
 * ask, nothing is known.
 */
async function assertKeepsKeys(redis: RedisClient, prefix: string): Promise<void> {
  const info = await redis.run(prefix, ['INFO', 'memory']).catch(() => undefined)
  const policy = /^maxmemory_policy:(\S+)/m.exec(String(info))?.[1]
  if (policy === undefined || policy === 'noeviction') return
  throw new Error(
    `redisStore: Redis has maxmemory-policy ${policy}, which deletes records of payments when memory is short, so that a repeat pays again: set it to noeviction`,
  )
}

/** A limiter rejects every call of a client that is not connected, also of one that connects on demand. */
function connectedFirst(limiter: RateLimiterRedis, client: Ioredis): RateLimiterRedis {
  const { consume, get } = limiter
  return Object.assign(limiter, {
    async consume(...given: Parameters<typeof consume>) {
      await connectOnDemand(client)
      return consume.apply(limiter, given)
    },
    async get(...given: Parameters<typeof get>) {
      await connectOnDemand(client)
      return get.apply(limiter, given)
    },
  })
}

/** A cluster takes the key of a command beside its arguments, and has a list of its masters. */
function nodeRedis(client: NodeRedis): RedisClient {
  return 'masters' in client
    ? fromNodeRedisCluster(client as Parameters<typeof fromNodeRedisCluster>[0])
    : fromNodeRedis(client as Parameters<typeof fromNodeRedis>[0])
}
