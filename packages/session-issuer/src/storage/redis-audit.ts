import { keyDigest, malformedReply } from '@gatewright/kernel'
import type { RedisClient } from '@gatewright/kernel/redis'
import { redisScript, runScript } from '@gatewright/kernel/internal/redis'
import type { AuditEntry, AuditStorage } from './audit-port.ts'
import { routeOf } from '../route.ts'
import { parse, readAuditEntry } from './parse-records.ts'
import type { RedisLanes } from './redis-lanes.ts'

/*
 *   audit:<digest>  sorted set of an account's rows as JSON, scored by their time. A new row removes the rows that are
 *                   past their time. The whole set expires when no row was added for as long as a row is kept.
 */
const auditKey = (prefix: string, accountId: string): string => `${prefix}audit:${keyDigest(accountId)}`

/** Lua function that adds audit rows: three arguments per row, from `auditArgs`. */
export const APPEND_AUDIT = `
local function audit(key, args, from, count)
  for n = 0, count - 1 do
    local at, keep, row = unpack(args, from + 3 * n, from + 3 * n + 2)
    redis.call('ZADD', key, at, row)
    redis.call('ZREMRANGEBYSCORE', key, '-inf', string.format('%.0f', tonumber(at) - tonumber(keep)))
    if redis.call('PTTL', key) < tonumber(keep) then redis.call('PEXPIRE', key, keep) end
  end
end
`

/** The arguments of the Lua function `audit` for rows of one account: the key, the number of rows, then each row. */
export function auditArgs(prefix: string, entries: readonly AuditEntry[]): string[] {
  const [first] = entries
  const key = first ? auditKey(prefix, first.accountId) : ''
  const values = entries.flatMap(entry => [
    String(entry.at),
    String(entry.expiresAt - entry.at),
    JSON.stringify(entry),
  ])
  return [key, String(entries.length), ...values]
}

/** Returns the rows of one instant, and at most `ARGV[2]` rows from before it, newest first. */
const PAGE = redisScript(`
local same = redis.call('ZREVRANGEBYSCORE', KEYS[1], ARGV[1], ARGV[1])
return {same, redis.call('ZREVRANGEBYSCORE', KEYS[1], '(' .. ARGV[1], '-inf', 'LIMIT', 0, ARGV[2])}
`)

/** `AuditStorage` in Redis. `collect` has nothing to do, because rows expire by themselves. */
export function redisAuditStorage(client: RedisClient, lanes: RedisLanes): AuditStorage {
  return {
    async list(accountId, limit, { at, id = '' }) {
      const key = auditKey(lanes.of(routeOf(accountId)).prefix, accountId)
      const found = await runScript(client, PAGE, key, [String(at), String(limit)])
      // Redis sorts rows of one score by their text, which begins with the id.
      const [same, older] = Array.isArray(found) ? found.map(toEntries) : []
      if (!same || !older) throw malformedReply('redis', 'audit rows')
      return [...same.filter(entry => entry.id < id), ...older].slice(0, limit)
    },
    collect: async () => 0,
  }
}

function toEntries(found: unknown): AuditEntry[] | undefined {
  return Array.isArray(found) ? found.map(row => readAuditEntry(parse(row))) : undefined
}
