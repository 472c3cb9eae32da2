import { keyDigest, malformedReply, orFault } from '@gatewright/kernel'
import type { RedisClient } from '@gatewright/kernel/redis'
import type { AuditEntry, AuditStorage } from './audit-port.ts'
import { parse, readAuditEntry } from './parse-records.ts'

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
    ...[String(entry.at), String(entry.expiresAt - entry.at), JSON.stringify(entry)],
  ])
  return [key, String(entries.length), ...values]
}

/** `AuditStorage` in Redis. `collect` has nothing to do, because rows expire by themselves. */
export function redisAuditStorage(client: RedisClient, prefix: string): AuditStorage {
  return {
    async list(accountId, limit, before) {
      const key = auditKey(prefix, accountId)
      const found = await orFault('redis', () =>
        client.run(key, ['ZREVRANGEBYSCORE', key, `(${before}`, '-inf', 'LIMIT', '0', String(limit)]),
      )
      if (!Array.isArray(found)) throw malformedReply('redis', 'audit rows')
      return found.map(row => readAuditEntry(parse(row)))
    },
    collect: async () => 0,
  }
}
