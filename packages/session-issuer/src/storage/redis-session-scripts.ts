import { GRACE_MS, keyDigest } from '@gatewright/kernel'
import { redisScript, type RedisScript } from '@gatewright/kernel/redis'
import type { AuditEntry } from './audit-port.ts'
import type { PolicyRecord, SessionRecord } from './port.ts'
import { APPEND_AUDIT, auditArgs } from './redis-audit.ts'
import { APPEND_FEED } from './redis-feed.ts'

/*
 * Keys, all with the prefix and so in one hash slot. Each expires `GRACE_MS` after the session it belongs to.
 *   session:<id>          <revokedAt or nothing>|<record as JSON>
 *   sessions:<digest>     sorted set of an account's session ids, scored by their end
 *   minted:<id>           set of the ids of all sessions that descend from it
 *   session-policy:<id>   JSON
 */

/**
 * Inserts a session. KEYS[1] the session; ARGV: prefix, account digest, id, record, expiresAt, PX, now less the grace,
 * number of ancestors, the ancestors from the first to the parent, the audit key, number of audit rows, 3 values per
 * row, then id and document of each policy.
 */
export const INSERT: RedisScript = redisScript(`${APPEND_AUDIT}
local prefix, px = ARGV[1], ARGV[6]
local ancestors = tonumber(ARGV[8])
if ancestors > 0 then
  local parent = redis.call('GET', prefix .. 'session:' .. ARGV[8 + ancestors])
  if not parent or string.sub(parent, 1, 1) ~= '|' then return 0 end
end
redis.call('SET', KEYS[1], '|' .. ARGV[4], 'PX', px)
local live = prefix .. 'sessions:' .. ARGV[2]
redis.call('ZREMRANGEBYSCORE', live, '-inf', ARGV[7])
redis.call('ZADD', live, ARGV[5], ARGV[3])
if redis.call('PTTL', live) < tonumber(px) then redis.call('PEXPIRE', live, px) end
for index = 9, 8 + ancestors do
  local minted = prefix .. 'minted:' .. ARGV[index]
  redis.call('SADD', minted, ARGV[3])
  if redis.call('PTTL', minted) < tonumber(px) then redis.call('PEXPIRE', minted, px) end
end
local rows = tonumber(ARGV[10 + ancestors])
audit(ARGV[9 + ancestors], ARGV, 11 + ancestors, rows)
for index = 11 + ancestors + 3 * rows, #ARGV, 2 do
  redis.call('SET', prefix .. 'session-policy:' .. ARGV[index], ARGV[index + 1], 'PX', px)
end
return 1
`)

/** Lua function that revokes the live sessions among `ids` and appends them to the feed. */
const REVOKE_ALL = `${APPEND_FEED}
local function revoke(ids, now)
  local entries = {}
  for _, id in ipairs(ids) do
    local key = ARGV[1] .. 'session:' .. id
    local stored = redis.call('GET', key)
    if stored and string.sub(stored, 1, 1) == '|' and cjson.decode(string.sub(stored, 2)).expiresAt > tonumber(now) then
      redis.call('SET', key, now .. stored, 'KEEPTTL')
      table.insert(entries, '{"kind":"session","id":' .. cjson.encode(id) .. ',"at":' .. now .. '}')
    end
  end
  append(ARGV[2], ARGV[3], entries, 1)
  return #entries
end
`

/**
 * Revokes a session and those minted from it. KEYS[1] the session; ARGV: prefix, stream, channel, now, id, the audit
 * key, number of audit rows, 3 values per row.
 */
export const REVOKE: RedisScript = redisScript(`${REVOKE_ALL}${APPEND_AUDIT}
local ids = redis.call('SMEMBERS', ARGV[1] .. 'minted:' .. ARGV[5])
table.insert(ids, ARGV[5])
local count = revoke(ids, ARGV[4])
if count > 0 then audit(ARGV[6], ARGV, 8, tonumber(ARGV[7])) end
return count
`)

/**
 * Revokes sessions of an account. KEYS[1] the account's set; ARGV: prefix, stream, channel, now, limit. Revoked
 * sessions leave the set.
 */
export const REVOKE_ACCOUNT: RedisScript = redisScript(`${REVOKE_ALL}
local count, ids = 0, {}
repeat
  ids = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[4], '+inf', 'LIMIT', 0, tonumber(ARGV[5]) - count)
  count = count + revoke(ids, ARGV[4])
  for _, id in ipairs(ids) do redis.call('ZREM', KEYS[1], id) end
until #ids == 0 or count >= tonumber(ARGV[5])
return count
`)

/** Lists the live sessions of an account. KEYS[1] the account's set; ARGV: prefix, now, limit. */
export const LIST: RedisScript = redisScript(`
local reply = {}
for _, id in ipairs(redis.call('ZREVRANGEBYSCORE', KEYS[1], '+inf', '(' .. ARGV[2])) do
  local stored = redis.call('GET', ARGV[1] .. 'session:' .. id)
  if stored and string.sub(stored, 1, 1) == '|' then table.insert(reply, stored) end
  if #reply >= tonumber(ARGV[3]) then break end
end
return reply
`)

/** Deletes old feed entries, the oldest first. KEYS[1] the feed's stream; ARGV: the instant, the limit. */
export const TRIM: RedisScript = redisScript(`
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', ARGV[2])) do
  if cjson.decode(entry[2][2]).at >= tonumber(ARGV[1]) then break end
  redis.call('XDEL', KEYS[1], entry[1])
end
return 1
`)

/** The arguments of `INSERT`. */
export function insertArgs(
  prefix: string,
  session: SessionRecord,
  own: readonly PolicyRecord[],
  audit: AuditEntry | undefined,
): string[] {
  const { revokedAt: _revokedAt, ...record } = session
  const { sessionId, accountId, ancestry, expiresAt, issuedAt } = session
  return [
    ...[prefix, keyDigest(accountId), sessionId, JSON.stringify(record), String(expiresAt)],
    ...[String(expiresAt - issuedAt + GRACE_MS), String(issuedAt - GRACE_MS)],
    ...[String(ancestry.length), ...ancestry],
    ...auditArgs(prefix, audit ? [audit] : []),
    ...own.flatMap(policy => [policy.id, JSON.stringify(policy.document)]),
  ]
}
