import { redisScript, type RedisScript } from '@gatewright/kernel/redis'

/** The scripts of one method: for one key, and for a batch of keys. */
export interface ScriptPair {
  readonly single: RedisScript
  /** Returns one reply for each key. An error of one key is its own reply: `!` and the reason. */
  readonly batch: RedisScript
}

/** Makes both scripts of a method from its body, which handles `key`, the `i`th of the batch. */
const scriptPair = (body: string): ScriptPair => ({
  single: redisScript(`local sub, call, key, i = string.sub, redis.call, KEYS[1], 1${body}`),
  batch: redisScript(`
local sub, call = string.sub, redis.call
local function one(key, i)${body}end
local replies = {}
for i, key in ipairs(KEYS) do
  local ran, reply = pcall(one, key, i)
  replies[i] = ran and reply or '!' .. (type(reply) == 'table' and reply.err or reply)
end
return replies`),
})

/**
 * Begins runs. ARGV[i]: the record of a run of KEYS[i] that starts now. Returns 1 for a new key, the larger fence for a
 * key that is started again, and the existing record otherwise. `redis-record.ts` describes the records.
 */
export const BEGIN: ScriptPair = scriptPair(`
  local record = ARGV[i]
  if call('SET', key, record, 'NX') then return 1 end
  local held, now = call('GET', key), sub(record, 2, 17)
  local state, fence = sub(held, 1, 1), sub(held, 2, 17)
  if state ~= 'f' and (state ~= 'd' or now < sub(held, 18, 33)) then return held end
  local larger = fence < now and now or string.format('%016.0f', tonumber(fence) + 1)
  call('SET', key, 'r' .. larger .. sub(record, 18))
  return larger
`)

/**
 * Ends runs. Three arguments for each key: the beginning of the new record up to the fingerprint, the time to live in ms
 * or nothing, and the response. Returns 1 if the run has this ending, otherwise 0.
 */
export const END: ScriptPair = scriptPair(`
  local held, head, px, stored = call('GET', key), ARGV[3 * i - 2], ARGV[3 * i - 1], ARGV[3 * i]
  if not held then return 0 end
  if sub(held, 1, 17) ~= 'r' .. sub(head, 2, 17) then
    return sub(held, 1, 17) == sub(head, 1, 17) and sub(held, 77) == stored and 1 or 0
  end
  local ended = head .. sub(held, 34, 76) .. stored
  if px == '' then call('SET', key, ended) else call('SET', key, ended, 'PX', px) end
  return 1
`)
