import { redisScript, type RedisScript } from '@gatewright/kernel/internal/redis'

// `redis-record.ts` describes the records. KEYS come in pairs: a record, and the index of its shard, a sorted set with a member for
// each running record of the shard: the digits of its begin, and its key. So the order of the members is that of the begins.

/** The scripts of one method: for one key, and for a batch of keys. */
export interface ScriptPair {
  readonly single: RedisScript
  /** Returns one reply for each key. An error of one key is its own reply: `!` and the reason. */
  readonly batch: RedisScript
}

/** Makes both scripts of a method from its body, which handles the record `key` with `index`, the `i`th of the batch. */
const scriptPair = (body: string): ScriptPair => ({
  single: redisScript(`local sub, call, key, index, i = string.sub, redis.call, KEYS[1], KEYS[2], 1${body}`),
  batch: redisScript(`
local sub, call = string.sub, redis.call
local function one(key, index, i)${body}end
local replies = {}
for i = 1, #KEYS / 2 do
  local ran, reply = pcall(one, KEYS[2 * i - 1], KEYS[2 * i], i)
  replies[i] = ran and reply or '!' .. (type(reply) == 'table' and reply.err or reply)
end
return replies`),
})

/** Defines `larger`, the fence of a run that follows the one of the record `held` at `now`. */
const LARGER_FENCE = `
  local fence = sub(held, 2, 17)
  local larger = fence < now and now or string.format('%016.0f', tonumber(fence) + 1)
`

/** Defines where the decision of the record `held` starts and ends. */
const DECISION = `
  local from = 98 + tonumber(sub(held, 93, 97))
  local to = from + 4 + tonumber(sub(held, from, from + 4))
`

/**
 * Begins runs. ARGV[i]: the record of a run of the `i`th key that starts now. Returns 1 for a new key, the larger fence for a
 * key that is started again, and the existing record otherwise. The decision of an earlier run stays in the record.
 */
export const BEGIN: ScriptPair = scriptPair(`
  local record = ARGV[i]
  local held, now, reply = call('GET', key), sub(record, 2, 17), 1
  if held then
    local state = sub(held, 1, 1)
    if state ~= 'f' and (state ~= 'd' or now < sub(held, 18, 33)) then return held end
    ${LARGER_FENCE}
    ${DECISION}
    record, reply = 'r' .. larger .. sub(record, 18, -6) .. sub(held, from, to), larger
  end
  call('SET', key, record)
  call('ZADD', index, 0, sub(record, 34, 49) .. key)
  return reply
`)

/**
 * Ends runs. Four arguments for each key: the beginning of the new record up to the begin, the time to live in ms or nothing, the
 * response, and the new decision with its length or nothing. Returns 1 if the run has this ending, otherwise 0.
 */
export const END: ScriptPair = scriptPair(`
  local held, head, px = call('GET', key), ARGV[4 * i - 3], ARGV[4 * i - 2]
  local stored, decision = ARGV[4 * i - 1], ARGV[4 * i]
  if not held then return 0 end
  ${DECISION}
  if sub(held, 1, 17) ~= 'r' .. sub(head, 2, 17) then
    return sub(held, 1, 17) == sub(head, 1, 17) and sub(held, to + 1) == stored and 1 or 0
  end
  if decision == '' then decision = sub(held, from, to) end
  local ended = head .. sub(held, 34, from - 1) .. decision .. stored
  if px == '' then
    call('SET', key, ended)
  else
    call('SET', key, ended, 'PX', px)
    call('ZREM', index, sub(held, 34, 49) .. key)
  end
  return 1
`)

/** Extends a lease. Arguments: the fence, the new end of the lease, and now. Returns 1 if the run is running, otherwise 0. */
export const EXTEND: RedisScript = redisScript(`
  local sub, held = string.sub, redis.call('GET', KEYS[1])
  if not held or sub(held, 1, 17) ~= 'r' .. ARGV[1] then return 0 end
  local ends = sub(held, 18, 33)
  if ARGV[3] >= ends then return 0 end
  if ends < ARGV[2] then redis.call('SET', KEYS[1], sub(held, 1, 17) .. ARGV[2] .. sub(held, 34)) end
  return 1
`)

/**
 * Takes a lost run over. Arguments: its fence, the end of the lease, and now. Returns the new fence, or 0 if the run is not lost.
 */
export const TAKE_OVER: RedisScript = redisScript(`
  local sub, held, now = string.sub, redis.call('GET', KEYS[1]), ARGV[3]
  if not held or sub(held, 1, 17) ~= 'r' .. ARGV[1] or now < sub(held, 18, 33) then return 0 end
  ${LARGER_FENCE}
  redis.call('SET', KEYS[1], 'r' .. larger .. ARGV[2] .. sub(held, 34))
  return larger
`)
