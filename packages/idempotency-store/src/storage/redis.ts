import { GRACE_MS, keyDigest, malformedReply, type EpochMs } from '@gatewright/kernel'
import { redisScript, runScript, type RedisClient } from '@gatewright/kernel/redis'
import type { Begun, Ending, IdempotencyStorage } from './port.ts'

/**
 * KEYS[1] the record, ARGV[1] fingerprint, ARGV[2] leaseUntil, ARGV[3] now. Deadlines are compared with the
 * caller's clock. A running record has no time to live: it must not vanish before somebody has decided.
 */
const BEGIN = redisScript(`
local held = redis.call('HMGET', KEYS[1], 'state', 'fingerprint', 'fence', 'until', 'answer')
local state, now = held[1], tonumber(ARGV[3])
if state and state ~= 'free' and (state == 'running' or now < tonumber(held[4])) then
  if held[2] ~= ARGV[1] then return {'reused'} end
  if state == 'done' then return {'done', held[5], held[4]} end
  if now < tonumber(held[4]) then return {'running'} end
  return {'lost', held[3]}
end
local fence = now
if state then
  if tonumber(held[3]) >= now then fence = tonumber(held[3]) + 1 end
  redis.call('DEL', KEYS[1])
end
local text = string.format('%.0f', fence)
redis.call('HSET', KEYS[1], 'state', 'running', 'fingerprint', ARGV[1], 'fence', text, 'until', ARGV[2])
return {'started', text}
`)

/** KEYS[1] the record, ARGV[1] fence, ARGV[2] state, ARGV[3] answer, ARGV[4] until, ARGV[5] PX or nothing. */
const END = redisScript(`
local held = redis.call('HMGET', KEYS[1], 'fence', 'state')
if held[1] ~= ARGV[1] then return 0 end
if held[2] ~= 'running' then return held[2] == ARGV[2] and 1 or 0 end
redis.call('HSET', KEYS[1], 'state', ARGV[2], 'until', ARGV[4], 'answer', ARGV[3])
if ARGV[5] ~= '' then redis.call('PEXPIRE', KEYS[1], ARGV[5]) end
return 1
`)

/** Options of `redisStorage`. */
export interface RedisStorageOptions {
  /** Prefix of every key. Default `gw:idempotency:`. */
  readonly prefix?: string
}

function integer(value: unknown): number {
  const number = typeof value === 'string' && value !== '' ? Number(value) : NaN
  if (!Number.isSafeInteger(number)) throw malformedReply('redis', 'an integer')
  return number
}

function readBegun(reply: unknown): Begun {
  const [state, first, second] = Array.isArray(reply) ? (reply as unknown[]) : []
  if (state === 'started' || state === 'lost') return { state, fence: integer(first) }
  if (state === 'running' || state === 'reused') return { state }
  if (state === 'done' && typeof first === 'string') {
    return { state, answer: first, expiresAt: integer(second) }
  }
  throw malformedReply('redis', 'a state')
}

function endArguments(ending: Ending, now: EpochMs): string[] {
  if (ending.state === 'lost') return ['running', '', '0', '']
  const { state, expiresAt } = ending
  const lifetimeMs = Math.max(expiresAt - now, 0) + GRACE_MS
  return [state, state === 'done' ? ending.answer : '', String(expiresAt), String(lifetimeMs)]
}

/**
 * The record in Redis: one script, one key, one round trip a verb. Redis must run with `maxmemory-policy
 * noeviction` and keep its data over a restart. A failover to a replica that lags can forget a begin or an
 * answer that was acknowledged, and a retry then runs again, with the same `effectId` and a larger fence: use it
 * where whoever makes the effect checks one of them. See docs/idempotency.md.
 */
export function redisStorage(client: RedisClient, options: RedisStorageOptions = {}): IdempotencyStorage {
  const { prefix = 'gw:idempotency:' } = options
  return {
    async begin(key, fingerprint, leaseUntil, now) {
      const args = [fingerprint, String(leaseUntil), String(now)]
      return readBegun(await runScript(client, BEGIN, prefix + keyDigest(key), args))
    },
    async end(key, fence, ending, now) {
      const args = [String(fence), ...endArguments(ending, now)]
      const reply = await runScript(client, END, prefix + keyDigest(key), args)
      if (reply !== 0 && reply !== 1) throw malformedReply('redis', '0 or 1')
      return reply === 1
    },
    collect: async () => 0,
  }
}
