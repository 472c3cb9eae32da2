import { knownOptions, malformedReply, type OptionNames } from '@gatewright/kernel'
import { redisScript, runScript, type RedisClient } from '@gatewright/kernel/redis'
import type { AliasUsage, AliasUsageStorage } from './port.ts'

/**
 * KEYS[1] is a hash of pair (alias, line break, principal) -> `count:firstSeen`. Beside it, in the same slot: `:names`
 * orders the pairs by name, `:seen` by lastSeen, `:writer:<id>` holds a writer's last batch number. Numbers go through
 * %.0f, since Lua would print 1.7e+12.
 *
 * ADD: ARGV writer, sequence, ms to remember the writer, then alias, principal, count, firstSeen, lastSeen per row.
 */
const ADD = redisScript(`
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

/** ARGV[1] the pair to start after or empty, ARGV[2] limit. Answers pair, `count:firstSeen`, lastSeen per row, flat. */
const PAGE = redisScript(`
local from = ARGV[1] == '' and '-' or '(' .. ARGV[1]
local reply = {}
for _, pair in ipairs(redis.call('ZRANGEBYLEX', KEYS[1] .. ':names', from, '+', 'LIMIT', 0, ARGV[2])) do
  reply[#reply + 1] = pair
  reply[#reply + 1] = redis.call('HGET', KEYS[1], pair)
  reply[#reply + 1] = string.format('%.0f', tonumber(redis.call('ZSCORE', KEYS[1] .. ':seen', pair)))
end
return reply
`)

/** ARGV[1] before, ARGV[2] limit. */
const COLLECT = redisScript(`
local old = redis.call('ZRANGEBYSCORE', KEYS[1] .. ':seen', '-inf', '(' .. ARGV[1], 'LIMIT', 0, ARGV[2])
for _, pair in ipairs(old) do
  redis.call('HDEL', KEYS[1], pair)
  redis.call('ZREM', KEYS[1] .. ':names', pair)
  redis.call('ZREM', KEYS[1] .. ':seen', pair)
end
return #old
`)

const WRITER_MS = 86_400_000

/** Options of `redisStorage`. */
export interface RedisStorageOptions {
  /** Prefix of every key, with a hash tag, so that a cluster keeps them in one slot. Default `{gw:alias}:`. */
  readonly prefix?: string
}

const OPTIONS: OptionNames<RedisStorageOptions> = { prefix: true }

function usageOf(pair: unknown, counted: unknown, seen: unknown): AliasUsage {
  const [alias, principal, more] = typeof pair === 'string' ? pair.split('\n') : []
  const figures = `${String(counted)}:${String(seen)}`.split(':').map(Number)
  const [count, firstSeen, lastSeen] = figures
  if (!alias || !principal || more !== undefined || figures.length !== 3) {
    throw malformedReply('redis', 'rows of usage')
  }
  if (!figures.every(Number.isSafeInteger)) throw malformedReply('redis', 'integers')
  return { alias, principal, count, firstSeen, lastSeen } as AliasUsage
}

/**
 * Usage in Redis: one script, one slot, one round trip per verb. A failover to a replica that lags forgets
 * batches that were acknowledged; see docs/storage.md.
 */
export function redisStorage(client: RedisClient, options: RedisStorageOptions = {}): AliasUsageStorage {
  const { prefix = '{gw:alias}:' } = knownOptions('redisStorage', options, OPTIONS)
  if (!/\{[^{}]+\}/.test(prefix)) throw new TypeError('prefix must hold a hash tag, such as {gw:alias}:')
  const key = `${prefix}usage`
  return {
    async add({ writer, sequence, rows }) {
      const flat = rows.flatMap(({ alias, principal, count, firstSeen, lastSeen }) => [
        ...[alias, principal, String(count), String(firstSeen), String(lastSeen)],
      ])
      const args = [writer, String(sequence), String(WRITER_MS), ...flat]
      const reply = await runScript(client, ADD, key, args)
      if (reply !== 0 && reply !== 1) throw malformedReply('redis', '0 or 1')
      return reply === 1
    },
    async page(after, limit) {
      const start = after ? `${after.alias}\n${after.principal}` : ''
      const reply = await runScript(client, PAGE, key, [start, String(limit)])
      if (!Array.isArray(reply) || reply.length % 3 !== 0) throw malformedReply('redis', 'rows of usage')
      return Array.from({ length: reply.length / 3 }, (_, row) =>
        usageOf(reply[3 * row], reply[3 * row + 1], reply[3 * row + 2]),
      )
    },
    async collect(before, limit) {
      const reply = await runScript(client, COLLECT, key, [String(before), String(limit)])
      if (!Number.isSafeInteger(reply)) throw malformedReply('redis', 'a count')
      return reply as number
    },
  }
}
