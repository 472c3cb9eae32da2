import { redisScript, type RedisScript } from '@gatewright/kernel/redis'

// KEYS[1] is the account's key with a hash tag. Every other key begins with it, so all keys are in one slot.
// Counters are integers whose expiry only collects garbage. Holds are JSON and never expire.
const FUNCTIONS = `
local function counter(name) return KEYS[1] .. ':c:' .. name end
local function hold(name) return KEYS[1] .. ':h:' .. name end
local function used(name) return tonumber(redis.call('GET', counter(name)) or '0') end
`

/**
 * ARGV: hold id or '', the hold's text, then per item: counter, amount, cap, lifetime in ms or ''.
 * Replies {1, used...} if held, {0, index, used} if an item is over its cap, {2} if the hold has other amounts.
 */
export const RESERVE: RedisScript = redisScript(`${FUNCTIONS}
if ARGV[1] ~= '' then
  local held = redis.call('GET', hold(ARGV[1]))
  if held and held ~= ARGV[2] then return {2} end
  if held then
    local now = {1}
    for i = 3, #ARGV, 4 do now[#now + 1] = string.format('%.0f', used(ARGV[i])) end
    return now
  end
end
for i = 3, #ARGV, 4 do
  local have = used(ARGV[i])
  if have + tonumber(ARGV[i + 1]) > tonumber(ARGV[i + 2]) then
    return {0, (i - 3) / 4, string.format('%.0f', have)}
  end
end
local after = {1}
for i = 3, #ARGV, 4 do
  redis.call('INCRBY', counter(ARGV[i]), ARGV[i + 1])
  if ARGV[i + 3] ~= '' then redis.call('PEXPIRE', counter(ARGV[i]), ARGV[i + 3]) end
  after[#after + 1] = string.format('%.0f', used(ARGV[i]))
end
if ARGV[1] ~= '' then redis.call('SET', hold(ARGV[1]), ARGV[2]) end
return after
`)

/** ARGV: hold id, actual cents or '' to give everything back. Replies 1 if done, 0 if the hold is gone, 2 if it exceeds. */
export const END_HOLD: RedisScript = redisScript(`${FUNCTIONS}
local held = redis.call('GET', hold(ARGV[1]))
if not held then return 0 end
local parts = cjson.decode(held)
local actual = tonumber(ARGV[2])
if actual then
  for _, part in ipairs(parts) do
    if part[2] == 'cents' and actual > tonumber(part[3]) then return 2 end
  end
end
for _, part in ipairs(parts) do
  local back = tonumber(part[3])
  if actual and part[2] == 'cents' then back = back - actual end
  if actual and part[2] == 'count' then back = 0 end
  if back > 0 and redis.call('EXISTS', counter(part[1])) == 1 then
    redis.call('DECRBY', counter(part[1]), string.format('%.0f', back))
  end
end
redis.call('DEL', hold(ARGV[1]))
return 1
`)

/** ARGV: counters. Replies how much of each is used. */
export const USED: RedisScript = redisScript(`${FUNCTIONS}
local all = {}
for i = 1, #ARGV do all[i] = string.format('%.0f', used(ARGV[i])) end
return all
`)
