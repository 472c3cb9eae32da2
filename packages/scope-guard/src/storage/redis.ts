export { redisRevocationFeed } from './redis-feed.ts'
export type { RedisFeedOptions } from './redis-feed.ts'
import { GRACE_MS, keyDigest, knownOptions, malformedReply, type OptionNames } from '@gatewright/kernel'
import { redisScript, runScript, type RedisClient } from '@gatewright/kernel/redis'
import type { Reserved, SpendItem, SpendStorage } from './port.ts'

// KEYS[1] is the account's key with a hash tag; every other key starts with it, so all share its slot.
// Counters are integers with a time to live that only collects garbage; holds are JSON and never end by time.
const PARTS = `
local function counter(name) return KEYS[1] .. ':c:' .. name end
local function hold(name) return KEYS[1] .. ':h:' .. name end
local function used(name) return tonumber(redis.call('GET', counter(name)) or '0') end
`

/** ARGV: hold id or '', the hold's text, then per item: counter, amount, cap, lifetime in ms or ''. */
const RESERVE = redisScript(`${PARTS}
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

/** ARGV: hold id, actual cents or '' to give everything back. 1 done, 0 gone, 2 exceeds. */
const RESOLVE = redisScript(`${PARTS}
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

/** ARGV: counters. */
const USED = redisScript(`${PARTS}
local all = {}
for i = 1, #ARGV do all[i] = string.format('%.0f', used(ARGV[i])) end
return all
`)

/** Options of `redisStorage`. */
export interface RedisStorageOptions {
  /** Prefix of every key. Default `gw:spend:`. */
  readonly prefix?: string
}

const OPTIONS: OptionNames<RedisStorageOptions> = { prefix: true }

/** Reads the integers of a reply. Redis sends numbers as integers or, where they may pass 2^31, as text. */
function integers(reply: unknown): number[] {
  if (!Array.isArray(reply)) throw malformedReply('redis', 'a list')
  const numbers = reply.map(Number)
  if (!numbers.every(Number.isSafeInteger)) throw malformedReply('redis', 'integers')
  return numbers
}

function readReserved(reply: unknown, items: number): Reserved {
  const [outcome, ...rest] = integers(reply)
  if (outcome === 1 && rest.length === items) return { outcome: 'held', used: rest }
  const [index, used] = rest
  if (outcome === 0 && index !== undefined && used !== undefined) return { outcome: 'over', index, used }
  if (outcome === 2 && rest.length === 0) return { outcome: 'conflict' }
  throw malformedReply('redis', 'held, over or conflict')
}

/** A hold as it is stored; equal items give equal text. Amounts are text, as Lua would round large numbers. */
const holdText = (items: readonly SpendItem[]): string =>
  JSON.stringify(items.map(({ counter, unit, amount }) => [keyDigest(counter), unit, String(amount)]))

/**
 * Spend counters in Redis: one script, one slot, one round trip per verb. Redis must run with `maxmemory-policy
 * noeviction`. A failover to a replica that lags forgets acknowledged reservations; money whose caps must hold
 * through a failover belongs in the ledger's own database. See docs/policies.md.
 */
export function redisStorage(client: RedisClient, options: RedisStorageOptions = {}): SpendStorage {
  const { prefix = 'gw:spend:' } = knownOptions('redisStorage', options, OPTIONS)
  const slot = (accountId: string): string => `${prefix}{${keyDigest(accountId)}}`
  const resolve = async (accountId: string, holdId: string, actual: string): Promise<number> => {
    const reply = await runScript(client, RESOLVE, slot(accountId), [keyDigest(holdId), actual])
    if (reply !== 0 && reply !== 1 && reply !== 2) throw malformedReply('redis', '0, 1 or 2')
    return reply
  }
  return {
    async reserve(accountId, holdId, items, now) {
      const args = items.flatMap(({ counter, amount, cap, expiresAt }) => [
        keyDigest(counter),
        String(amount),
        String(cap),
        expiresAt === null ? '' : String(Math.max(expiresAt - now, 0) + GRACE_MS),
      ])
      const id = holdId === null ? '' : keyDigest(holdId)
      const reply = await runScript(client, RESERVE, slot(accountId), [id, holdText(items), ...args])
      return readReserved(reply, items.length)
    },
    async settle(accountId, holdId, actualCents) {
      const reply = await resolve(accountId, holdId, String(actualCents))
      return reply === 1 ? 'settled' : reply === 0 ? 'gone' : 'exceeds'
    },
    release: async (accountId, holdId) => (await resolve(accountId, holdId, '')) === 1,
    async used(accountId, counters) {
      const used = integers(await runScript(client, USED, slot(accountId), counters.map(keyDigest)))
      if (used.length !== counters.length) throw malformedReply('redis', 'one number per counter')
      return used
    },
    collect: async () => 0,
  }
}
