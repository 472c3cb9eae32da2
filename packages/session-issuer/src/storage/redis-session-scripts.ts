import { GRACE_MS, keyDigest } from '@gatewright/kernel'
import { redisScript, type RedisScript } from '@gatewright/kernel/internal/redis'
import type { AuditEntry } from './audit-port.ts'
import type { PolicyRecord, SessionRecord } from './port.ts'
import { APPEND_AUDIT, auditArgs } from './redis-audit.ts'
import { APPEND_FEED } from './redis-feed.ts'

/*
 * All keys begin with the prefix of the lane of their account, whose hash tag puts them into one hash slot of a cluster. Each key expires `GRACE_MS` after
 * the last session that it belongs to.
 *   session:<session id>        <revokedAt, empty while live>|<record as JSON>
 *   sessions:<account digest>   sorted set of the ids of an account's sessions, scored by `expiresAt`
 *   minted:<session id>         set of the ids of all sessions that descend from this one
 *   session-policy:<policy id>  the policy document as JSON
 */

/**
 * Inserts a session, unless its parent session is missing or revoked. Returns 1 if it was inserted, else 0.
 * KEYS[1]: the key of the session. ARGV, made by `insertArgs`: prefix, account digest, session id, record, `expiresAt`, time to
 * live of the keys in ms, time up to which expired ids are removed from the account's set, number of ancestors, ids of the
 * ancestors (the parent last), audit key, number of audit rows, 3 values per audit row, then id and document of each policy.
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

/**
 * Lua function that revokes the live sessions among `ids`, appends them to the revocation feed and returns how many it revoked.
 * It reads prefix, stream and channel from ARGV[1] to ARGV[3].
 */
const REVOKE_FUNCTION = `${APPEND_FEED}
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
 * Revokes a session and all sessions that descend from it. Returns how many it revoked. KEYS[1]: the key of the session.
 * ARGV: prefix, stream, channel, now, session id, audit key, number of audit rows, 3 values per audit row.
 */
export const REVOKE: RedisScript = redisScript(`${REVOKE_FUNCTION}${APPEND_AUDIT}
local ids = redis.call('SMEMBERS', ARGV[1] .. 'minted:' .. ARGV[5])
table.insert(ids, ARGV[5])
local count = revoke(ids, ARGV[4])
if count > 0 then audit(ARGV[6], ARGV, 8, tonumber(ARGV[7])) end
return count
`)

/**
 * Revokes up to `limit` live sessions of an account and removes them from the account's set. Returns how many it revoked.
 * KEYS[1]: the account's set. ARGV: prefix, stream, channel, now, limit.
 */
export const REVOKE_ACCOUNT: RedisScript = redisScript(`${REVOKE_FUNCTION}
local count, ids = 0, {}
repeat
  ids = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[4], '+inf', 'LIMIT', 0, tonumber(ARGV[5]) - count)
  count = count + revoke(ids, ARGV[4])
  for _, id in ipairs(ids) do redis.call('ZREM', KEYS[1], id) end
until #ids == 0 or count >= tonumber(ARGV[5])
return count
`)

/**
 * Lists up to `limit` live sessions of an account, latest expiry first, those of one expiry by descending id. It reads the
 * account's set in parts, because most of a large set is on other pages. KEYS[1]: the account's set. ARGV: prefix, now, limit,
 * then the expiry and id to continue after (`+inf` and an empty id for the first page).
 */
export const LIST: RedisScript = redisScript(`
local part = 200
-- Compares bytes, as sorted sets do. The operator < of Lua compares by the locale of the server.
local function less(one, other)
  for index = 1, math.min(#one, #other) do
    local a, b = string.byte(one, index), string.byte(other, index)
    if a ~= b then return a < b end
  end
  return #one < #other
end
local reply, limit, offset, after = {}, tonumber(ARGV[3]), 0, tonumber(ARGV[4])
repeat
  local found = redis.call('ZREVRANGEBYSCORE', KEYS[1], ARGV[4], '(' .. ARGV[2], 'WITHSCORES', 'LIMIT', offset, part)
  for index = 1, #found, 2 do
    if #reply < limit and (tonumber(found[index + 1]) ~= after or less(found[index], ARGV[5])) then
      local stored = redis.call('GET', ARGV[1] .. 'session:' .. found[index])
      if stored and string.sub(stored, 1, 1) == '|' then table.insert(reply, stored) end
    end
  end
  offset = offset + part
until #found < 2 * part or #reply >= limit
return reply
`)

/** Deletes up to `limit` feed entries that are older than `before`. Returns how many. KEYS[1]: the feed's stream. ARGV: before, limit. */
export const TRIM: RedisScript = redisScript(`
local count = 0
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', ARGV[2])) do
  if cjson.decode(entry[2][2]).at >= tonumber(ARGV[1]) then break end
  count = count + redis.call('XDEL', KEYS[1], entry[1])
end
return count
`)

/** Makes the ARGV of `INSERT`. `policies` are those that were made for this session. */
export function insertArgs(
  prefix: string,
  session: SessionRecord,
  policies: readonly PolicyRecord[],
  audit: AuditEntry | undefined,
): string[] {
  const { revokedAt: _revokedAt, ...record } = session
  const { sessionId, accountId, ancestry, expiresAt, issuedAt } = session
  return [
    prefix,
    keyDigest(accountId),
    sessionId,
    JSON.stringify(record),
    String(expiresAt),
    String(expiresAt - issuedAt + GRACE_MS),
    String(issuedAt - GRACE_MS),
    String(ancestry.length),
    ...ancestry,
    ...auditArgs(prefix, audit ? [audit] : []),
    ...policies.flatMap(policy => [policy.id, JSON.stringify(policy.document)]),
  ]
}
