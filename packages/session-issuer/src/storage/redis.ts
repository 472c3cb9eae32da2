import { checkOptions, DEFAULT_REDIS_PREFIX } from '@gatewright/kernel/internal'
import type { RedisClient } from '@gatewright/kernel/redis'
import type { IssuerStorage } from './port.ts'
import { redisAuditStorage } from './redis-audit.ts'
import { redisKeyStorage } from './redis-keys.ts'
import { redisSessionStorage } from './redis-sessions.ts'

/** Options of `redisCredentials`. */
interface RedisCredentialsOptions {
  /** Prefix of every key, with a hash tag in braces, so that rows and feed are in one slot. Default `{gw}:`. */
  readonly prefix?: string
}

/**
 * Keys, sessions and audit rows in Redis, which must run with `maxmemory-policy noeviction` and, where it is the
 * authoritative store of keys, with `appendonly yes`: a failover to a replica that lags loses acknowledged writes,
 * revocations included. In a cluster all keys are in one slot, because a revocation and its feed entry are one atomic
 * step.
 */
export function redisCredentials(client: RedisClient, options: RedisCredentialsOptions = {}): IssuerStorage {
  const { prefix } = checkOptions('redisCredentials', options, { prefix: { default: DEFAULT_REDIS_PREFIX } })
  if (!/\{[^{}]+\}/.test(prefix)) {
    throw new TypeError('prefix must contain a hash tag in braces, as in "{gw}:"')
  }
  return {
    keys: redisKeyStorage(client, prefix),
    sessions: redisSessionStorage(client, prefix),
    audit: redisAuditStorage(client, prefix),
  }
}
