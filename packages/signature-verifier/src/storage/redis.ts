import { GRACE_MS, keyDigest, malformedReply } from '@gatewright/kernel'
import { redisScript, runScript, type RedisClient } from '@gatewright/kernel/redis'
import type { NonceStorage } from './port.ts'

/**
 * KEYS[1] the nonce, ARGV[1] expiresAt, ARGV[2] now, ARGV[3] PX. Expiry is compared with the caller's clock;
 * PX is relative and only collects garbage, so neither clock can end a key early.
 */
const CLAIM = redisScript(`
local held = redis.call('GET', KEYS[1])
if held and tonumber(ARGV[2]) < tonumber(held) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return 1
`)

/** Options of `redisStorage`. */
export interface RedisStorageOptions {
  /** Prefix of every key. Default `gw:nonce:`. */
  readonly prefix?: string
}

/**
 * Replay memory in Redis: one script, one key, one round trip. Redis must run with `maxmemory-policy noeviction`.
 * A failover to a replica that lags can forget a claim that was acknowledged; see docs/storage.md.
 */
export function redisStorage(client: RedisClient, options: RedisStorageOptions = {}): NonceStorage {
  const { prefix = 'gw:nonce:' } = options
  return {
    async claim(key, expiresAt, now) {
      const lifetimeMs = expiresAt - now + GRACE_MS
      const args = [String(expiresAt), String(now), String(lifetimeMs)]
      const reply = await runScript(client, CLAIM, prefix + keyDigest(key), args)
      if (reply !== 0 && reply !== 1) throw malformedReply('redis', '0 or 1')
      return reply === 1
    },
    collect: async () => 0,
  }
}
