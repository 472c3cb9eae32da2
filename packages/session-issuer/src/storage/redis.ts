import { DEFAULT_REDIS_PREFIX, knownOptions, type OptionNames } from '@gatewright/kernel'
import type { RedisClient } from '@gatewright/kernel/redis'
import type { AuditStorage } from './audit-port.ts'
import type { KeyStorage, SessionStorage } from './port.ts'
import { redisAuditStorage } from './redis-audit.ts'
import { redisKeyStorage } from './redis-keys.ts'
import { redisSessionStorage } from './redis-sessions.ts'

/** Options of `redisStorage`. */
export interface RedisStorageOptions {
  /** Prefix of every key, with a hash tag in braces: rows and feed change together. Default `{gw}:`. */
  readonly prefix?: string
}

const OPTIONS: OptionNames<RedisStorageOptions> = { prefix: true }

/**
 * Keys and sessions in Redis, which must run with `maxmemory-policy noeviction` and, where it is the truth about
 * keys, with `appendonly yes`: a failover to a replica that lags forgets acknowledged writes, revocations
 * included. In a cluster all of it lives in one slot, because a revocation and its feed entry are one step.
 */
export function redisStorage(
  client: RedisClient,
  options: RedisStorageOptions = {},
): { readonly keys: KeyStorage; readonly sessions: SessionStorage; readonly audit: AuditStorage } {
  const { prefix = DEFAULT_REDIS_PREFIX } = knownOptions('redisStorage', options, OPTIONS)
  if (typeof prefix !== 'string' || !/\{[^{}]+\}/.test(prefix)) {
    throw new TypeError('prefix must hold a hash tag in braces, as in "{gw}:"')
  }
  return {
    keys: redisKeyStorage(client, prefix),
    sessions: redisSessionStorage(client, prefix),
    audit: redisAuditStorage(client, prefix),
  }
}
