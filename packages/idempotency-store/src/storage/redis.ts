import { GRACE_MS, keyDigest, malformedReply, type EpochMs } from '@gatewright/kernel'
import { redisScript, runScript, type RedisClient } from '@gatewright/kernel/redis'
import type { Begun, Ending, IdempotencyStorage } from './port.ts'

/**
 * A record is one MessagePack value: state, fence, until, fingerprint, answer.
 * KEYS[1] the record, ARGV[1] fingerprint, ARGV[2] leaseUntil, ARGV[3] now. Deadlines are compared with the
 * caller's clock. A running record has no time to live: it must not vanish before somebody has decided.
 */
const BEGIN = redisScript(`
local now = tonumber(ARGV[3])
local fence = now
local held = redis.call('GET', KEYS[1])
if held then
  local state, last, deadline, fingerprint, answer = cmsgpack.unpack(held)
  if state == 'running' or (state == 'done' and now < deadline) then
    if fingerprint ~= ARGV[1] then return {'reused'} end
    if state == 'done' then return {'done', deadline, answer} end
    if now < deadline then return {'running'} end
    return {'lost', last}
  end
  if last >= now then fence = last + 1 end
end
redis.call('SET', KEYS[1], cmsgpack.pack('running', fence, tonumber(ARGV[2]), ARGV[1]))
return {'started', fence}
`)

/** KEYS[1] the record, ARGV[1] fence, ARGV[2] state, ARGV[3] until, ARGV[4] PX or nothing, ARGV[5] answer. */
const END = redisScript(`
local held = redis.call('GET', KEYS[1])
if not held then return 0 end
local state, fence, deadline, fingerprint = cmsgpack.unpack(held)
if fence ~= tonumber(ARGV[1]) then return 0 end
if state ~= 'running' then return state == ARGV[2] and 1 or 0 end
local ended = cmsgpack.pack(ARGV[2], fence, tonumber(ARGV[3]), fingerprint, ARGV[5])
if ARGV[4] == '' then redis.call('SET', KEYS[1], ended)
else redis.call('SET', KEYS[1], ended, 'PX', ARGV[4]) end
return 1
`)

/** Options of `redisStorage`. */
export interface RedisStorageOptions {
  /** Prefix of every key. Default `gw:idempotency:`. */
  readonly prefix?: string
}

/** A script's number comes back as an integer, by some clients as a bigint. */
function integer(value: unknown): number {
  const number = typeof value === 'bigint' ? Number(value) : value
  if (!Number.isSafeInteger(number)) throw malformedReply('redis', 'an integer')
  return number as number
}

function readBegun(reply: unknown): Begun {
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
