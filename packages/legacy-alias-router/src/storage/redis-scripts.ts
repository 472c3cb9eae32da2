import { redisScript, type RedisScript } from '@gatewright/kernel/internal/redis'

// KEYS[1] is a hash from pair (alias, line break, caller) to `count:firstSeen`. In the same hash slot, the sorted set
// `:names` orders the pairs by name and `:seen` by lastSeen, and `:writer:<id>` has the last batch number of a writer.
// Numbers are formatted with %.0f, because Lua would print 1.7e+12.

/** Adds a batch. ARGV: writer, sequence, ms to keep the writer; then alias, caller, count, firstSeen, lastSeen per row. */
export const ADD: RedisScript = redisScript(`
local mark = KEYS[1] .. ':writer:' .. ARGV[1]
if tonumber(ARGV[2]) <= tonumber(redis.call('GET', mark) or '0') then return 0 end
redis.call('SET', mark, ARGV[2], 'PX', ARGV[3])
for i = 4, #ARGV, 5 do
  local pair = ARGV[i] .. '\\n' .. ARGV[i + 1]
  local count, first, last = tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3]), tonumber(ARGV[i + 4])
  local held = redis.call('HGET', KEYS[1], pair)
  if held then
    local c, f = held:match('^(%d+):(%d+)$')
    count = count + tonumber(c)
    first = math.min(first, tonumber(f))
    last = math.max(last, tonumber(redis.call('ZSCORE', KEYS[1] .. ':seen', pair)))
  end
  redis.call('HSET', KEYS[1], pair, string.format('%.0f:%.0f', count, first))
  redis.call('ZADD', KEYS[1] .. ':names', 0, pair)
  redis.call('ZADD', KEYS[1] .. ':seen', string.format('%.0f', last), pair)
end
return 1
`)

/** Reads rows. ARGV: the pair to start after (or empty), limit. Returns pair, `count:firstSeen`, lastSeen per row, flat. */
export const PAGE: RedisScript = redisScript(`
local from = ARGV[1] == '' and '-' or '(' .. ARGV[1]
local reply = {}
for _, pair in ipairs(redis.call('ZRANGEBYLEX', KEYS[1] .. ':names', from, '+', 'LIMIT', 0, ARGV[2])) do
  reply[#reply + 1] = pair
  reply[#reply + 1] = redis.call('HGET', KEYS[1], pair)
  reply[#reply + 1] = string.format('%.0f', tonumber(redis.call('ZSCORE', KEYS[1] .. ':seen', pair)))
end
return reply
`)

/** Deletes rows last seen before an instant. ARGV: instant, limit. Returns how many. */
export const COLLECT: RedisScript = redisScript(`
local old = redis.call('ZRANGEBYSCORE', KEYS[1] .. ':seen', '-inf', '(' .. ARGV[1], 'LIMIT', 0, ARGV[2])
for _, pair in ipairs(old) do
  redis.call('HDEL', KEYS[1], pair)
  redis.call('ZREM', KEYS[1] .. ':names', pair)
  redis.call('ZREM', KEYS[1] .. ':seen', pair)
end
return #old
`)
