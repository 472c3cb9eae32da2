import { redisScript, type RedisScript } from '@gatewright/kernel/internal/redis'
import { BUCKET_DIGITS } from './counters.ts'

// KEYS[1] is the account's key with a hash tag. Every other key begins with it, so all keys are in one slot.
// Counters, and the part of each in open holds, are integers whose expiry only collects garbage. Holds are JSON and never
// expire.
const FUNCTIONS = `
local function counter(name) return KEYS[1] .. ':c:' .. name end
local function hold(name) return KEYS[1] .. ':h:' .. name end
local function open(name) return KEYS[1] .. ':o:' .. name end
local function number(key) return tonumber(redis.call('GET', key) or '0') end
local function text(amount) return string.format('%.0f', amount) end
-- What a counter has, in its buckets from one to another if it rolls, and the buckets that have something.
local function sum(key, name, from, to)
  if from == '' then return number(key(name)), {} end
  local keys, total, found = {}, 0, {}
  for bucket = tonumber(from), tonumber(to) do keys[#keys + 1] = key(string.format('%s.%0${BUCKET_DIGITS}d', name, bucket)) end
  for n, value in ipairs(redis.call('MGET', unpack(keys))) do
    if value then
      total = total + tonumber(value)
      found[#found + 1] = text(tonumber(from) + n - 1)
      found[#found + 1] = value
    end
  end
  return total, found
end
`

/** How many arguments an item of a reservation has. */
const ITEM = 7

/**
 * ARGV: hold id or '', the hold's text, then per item: counter, amount, cap, lifetime in ms or '', and the oldest, the current and the
 * newest bucket or ''. Replies {1, used...} if held, {0, index, used} with the buckets and what they have if an item is over its cap, {2} if
 * the hold has other amounts.
 */
export const RESERVE: RedisScript = redisScript(`${FUNCTIONS}
-- Whether a hold has the items of a reservation. One that is repeated in another bucket or window is the same.
local function same(held, items)
  if #held ~= #items then return false end
  for n, part in ipairs(held) do
    local item = items[n]
    local counter = part[1]:gsub('%.%d+', '') == item[1]:gsub('%.%d+', '')
    local series = part[4] and part[4] == item[4]
    if not (counter or series) or part[2] ~= item[2] or part[3] ~= item[3] then return false end
  end
  return true
end
local function used(i) return sum(counter, ARGV[i], ARGV[i + 4], ARGV[i + 6]) end
if ARGV[1] ~= '' then
  local held = redis.call('GET', hold(ARGV[1]))
  if held and not same(cjson.decode(held), cjson.decode(ARGV[2])) then return {2} end
  if held then
    local now = {1}
    for i = 3, #ARGV, ${ITEM} do now[#now + 1] = text((used(i))) end
    return now
  end
end
for i = 3, #ARGV, ${ITEM} do
  local have, buckets = used(i)
  if have + tonumber(ARGV[i + 1]) > tonumber(ARGV[i + 2]) then
    return {0, (i - 3) / ${ITEM}, text(have), unpack(buckets)}
  end
end
local after = {1}
for i = 3, #ARGV, ${ITEM} do
  local name = ARGV[i]
  if ARGV[i + 5] ~= '' then name = string.format('%s.%0${BUCKET_DIGITS}d', name, tonumber(ARGV[i + 5])) end
  local keys = {counter(name)}
  if ARGV[1] ~= '' then keys[2] = open(name) end
  for _, key in ipairs(keys) do
    redis.call('INCRBY', key, ARGV[i + 1])
    if ARGV[i + 3] ~= '' then redis.call('PEXPIRE', key, ARGV[i + 3]) end
  end
  after[#after + 1] = text((used(i)))
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

/**
 * ARGV: for each counter its name, and its oldest and newest bucket or ''. Replies for each: how much is used, how much of that is held, how
 * many numbers follow, and the buckets with what they have.
 */
export const USAGE: RedisScript = redisScript(`${FUNCTIONS}
local all = {}
for i = 1, #ARGV, 3 do
  local used, buckets = sum(counter, ARGV[i], ARGV[i + 1], ARGV[i + 2])
  local held = sum(open, ARGV[i], ARGV[i + 1], ARGV[i + 2])
  for _, value in ipairs({text(used), text(held), #buckets}) do all[#all + 1] = value end
  for _, value in ipairs(buckets) do all[#all + 1] = value end
end
return all
`)
