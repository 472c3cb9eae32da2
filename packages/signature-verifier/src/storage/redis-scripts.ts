import { redisScript, type RedisScript } from '@gatewright/kernel/internal/redis'

/**
 * Claims a nonce. KEYS[1] the nonce; ARGV: expiresAt, now, PX. Expiry is compared with the caller's clock; PX is
 * relative and only deletes old keys, so neither clock can end a key early.
 */
export const CLAIM: RedisScript = redisScript(`
local expiry = redis.call('GET', KEYS[1])
if expiry and tonumber(ARGV[2]) < tonumber(expiry) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return 1
`)

/** Issues a challenge. KEYS[1] the challenge; ARGV: expiresAt, PX. */
export const ISSUE: RedisScript = redisScript(`
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
return 0
`)

/** Consumes a challenge. KEYS[1] the challenge; ARGV: now. An expired one is deleted too, because nobody can use it. */
export const CONSUME: RedisScript = redisScript(`
local expiry = redis.call('GET', KEYS[1])
if not expiry then return 0 end
redis.call('DEL', KEYS[1])
if tonumber(ARGV[1]) < tonumber(expiry) then return 1 end
return 0
`)
