import { GRACE_MS, keyDigest, malformedReply, type EpochMs } from '@gatewright/kernel'
import { redisScript, runScript, type RedisClient } from '@gatewright/kernel/redis'
import type { Begun, Ending, IdempotencyStorage } from './port.ts'

/**
 * A record is one string: `<state> <fence> <until> <length of fingerprint> <fingerprint><answer>`.
 * KEYS[1] the record, ARGV[1] fingerprint, ARGV[2] leaseUntil, ARGV[3] now. Deadlines are compared with the
 * caller's clock. A running record has no time to live: it must not vanish before somebody has decided.
 * Answers 1 for a new key, which is started with the fence `now`.
 */
const BEGIN = redisScript(`
local rest = ' ' .. ARGV[2] .. ' ' .. #ARGV[1] .. ' ' .. ARGV[1]
if redis.call('SET', KEYS[1], 'running ' .. ARGV[3] .. rest, 'NX') then return 1 end
local held, now = redis.call('GET', KEYS[1]), tonumber(ARGV[3])
local state, fence, deadline, length, at = string.match(held, '^(%a+) (%d+) (%d+) (%d+) ()')
if state == 'running' or (state == 'done' and now < tonumber(deadline)) then
  local answer = at + tonumber(length)
  if string.sub(held, at, answer - 1) ~= ARGV[1] then return {'reused'} end
  if state == 'done' then return {'done', deadline, string.sub(held, answer)} end
  if now < tonumber(deadline) then return {'running'} end
  return {'lost', fence}
end
local larger = string.format('%.0f', math.max(tonumber(fence) + 1, now))
redis.call('SET', KEYS[1], 'running ' .. larger .. rest)
return {'started', larger}
`)

/** KEYS[1] the record, ARGV[1] fence, ARGV[2] state, ARGV[3] until, ARGV[4] PX or nothing, ARGV[5] answer. */
const END = redisScript(`
local held = redis.call('GET', KEYS[1])
if not held then return 0 end
local state, fence, at, length, from = string.match(held, '^(%a+) (%d+) %d+ ()(%d+) ()')
if fence ~= ARGV[1] then return 0 end
if state ~= 'running' then
  local answer = string.sub(held, from + tonumber(length))
  return state == ARGV[2] and answer == ARGV[5] and 1 or 0
end
local ended = ARGV[2] .. ' ' .. fence .. ' ' .. ARGV[3] .. ' ' .. string.sub(held, at) .. ARGV[5]
if ARGV[4] == '' then redis.call('SET', KEYS[1], ended)
else redis.call('SET', KEYS[1], ended, 'PX', ARGV[4]) end
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

function readBegun(reply: unknown, now: EpochMs): Begun {
  if (reply === 1) return { state: 'started', fence: now }
  const [state, number, answer] = Array.isArray(reply) ? (reply as unknown[]) : []
  if (state === 'started' || state === 'lost') return { state, fence: integer(number) }
  if (state === 'running' || state === 'reused') return { state }
  if (state === 'done' && typeof answer === 'string') {
    return { state, answer, expiresAt: integer(number) }
  }
  throw malformedReply('redis', 'a state')
}

function endArguments(ending: Ending, now: EpochMs): string[] {
  if (ending.state === 'lost') return ['running', '0', '', '']
  const { state, expiresAt } = ending
  const lifetimeMs = Math.max(expiresAt - now, 0) + GRACE_MS
  return [state, String(expiresAt), String(lifetimeMs), state === 'done' ? ending.answer : '']
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
      return readBegun(await runScript(client, BEGIN, prefix + keyDigest(key), args), now)
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
