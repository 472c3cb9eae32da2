import { checkOptions, DEFAULT_REDIS_PREFIX } from '@gatewright/kernel/internal'
import type { RedisClient } from '@gatewright/kernel/redis'
import type { IssuerStorage } from './port.ts'
import { redisAuditStorage } from './redis-audit.ts'
import { redisKeyStorage } from './redis-keys.ts'
import { redisLanes } from './redis-lanes.ts'
import { redisSessionStorage } from './redis-sessions.ts'

/** Options of `redisCredentials`. */
export interface RedisCredentialsOptions {
  /** Part of every key, without braces: the keys of an account begin with `{gw:17}:`, for example. Default `gw:`. */
  readonly prefix?: string
}

/**
 * Keys, sessions and audit rows in Redis, which must run with `maxmemory-policy noeviction` and, where it is the
 * authoritative store of keys, with `appendonly yes`: a failover to a replica that lags loses acknowledged writes,
 * revocations included. In a cluster the keys of an account are in one slot, because a revocation and its feed entry are one
 * atomic step, and accounts are in 32 slots.
 */
export function redisCredentials(client: RedisClient, options: RedisCredentialsOptions = {}): IssuerStorage {
  const { prefix } = checkOptions('redisCredentials', options, { prefix: { default: DEFAULT_REDIS_PREFIX } })
  const lanes = redisLanes(client, prefix)
  return {
    keys: redisKeyStorage(client, lanes),
    sessions: redisSessionStorage(client, lanes),
    audit: redisAuditStorage(client, lanes),
  }
}
