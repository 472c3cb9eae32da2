import { redisScript, type RedisScript } from '@gatewright/kernel/internal/redis'

// KEYS[1] is the account's key with a hash tag. Every other key begins with it, so all keys are in one slot.
// Counters, and the part of each in open holds, are integers whose expiry only collects garbage. Holds are JSON and never
// expire.
const FUNCTIONS = `
local function counter(name) return KEYS[1] .. ':c:' .. name end
local function hold(name) return KEYS[1] .. ':h:' .. name end
local function open(name) return KEYS[1] .. ':o:' .. name end
local function number(key) return tonumber(redis.call('GET', key) or '0') end
local function used(name) return number(counter(name)) end
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
  local keys = {counter(ARGV[i])}
  if ARGV[1] ~= '' then keys[2] = open(ARGV[i]) end
  for _, key in ipairs(keys) do
    redis.call('INCRBY', key, ARGV[i + 1])
    if ARGV[i + 3] ~= '' then redis.call('PEXPIRE', key, ARGV[i + 3]) end
  end
  after[#after + 1] = string.format('%.0f', used(ARGV[i]))
end
if ARGV[1] ~= '' then redis.call('SET', hold(ARGV[1]), ARGV[2]) end
return after
`)

/** ARGV: hold id, actual cents, -1 to keep everything, or '' to give everything back. Replies 1 if done, 0 if the hold is gone, 2 if it exceeds. */
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
  if actual and (part[2] == 'count' or actual < 0) then back = 0 end
  -- A hold of a process that runs the version before this key is not in it.
  local shown = math.min(tonumber(part[3]), number(open(part[1])))
  for key, less in pairs({[counter(part[1])] = back, [open(part[1])] = shown}) do
    if less > 0 and redis.call('EXISTS', key) == 1 then redis.call('DECRBY', key, string.format('%.0f', less)) end
  end
end
redis.call('DEL', hold(ARGV[1]))
return 1
`)

/** ARGV: counters. Replies two numbers for each: how much is used, and how much of that is held. */
export const USAGE: RedisScript = redisScript(`${FUNCTIONS}
local all = {}
for _, name in ipairs(ARGV) do
  all[#all + 1] = string.format('%.0f', used(name))
  all[#all + 1] = string.format('%.0f', number(open(name)))
end
return all
`)
