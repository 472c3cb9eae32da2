import { redisScript, type RedisScript } from '@gatewright/kernel/internal/redis'
import type { KeyUse, KeyWrite } from './port.ts'
import { endOf } from './parse-records.ts'
import { APPEND_AUDIT, auditArgs } from './redis-audit.ts'
import { APPEND_FEED } from './redis-feed.ts'
import type { LaneNames } from './redis-lanes.ts'

/*
 * Keys, all with the prefix of the lane of their account and so in one hash slot:
 *   account:<digest>  hash: revision, and a field per key id
 *   key:<id>          hash: record (JSON), digest, pepper, used, account, lineage
 *   lineage:<id>      hash: a field k<key id> or p<policy id> for each of its own
 *   key-policy:<id>   JSON
 *   policy-lineages:<id>  set of the lineages that have the policy
 *   ended-keys        sorted set of key ids, scored by their end, for collection
 */

/** Lua function that deletes a key and, with the last key of its lineage, the policies that no other lineage has. */
const REMOVE = `
local function remove(prefix, id)
  local key = prefix .. 'key:' .. id
  local account, lineage = unpack(redis.call('HMGET', key, 'account', 'lineage'))
  if not account then return end
  redis.call('HDEL', account, id)
  redis.call('DEL', key)
  redis.call('ZREM', prefix .. 'ended-keys', id)
  local line = prefix .. 'lineage:' .. lineage
  redis.call('HDEL', line, 'k' .. id)
  local fields = redis.call('HKEYS', line)
  for _, field in ipairs(fields) do if string.sub(field, 1, 1) == 'k' then return end end
  for _, field in ipairs(fields) do
    local policy = string.sub(field, 2)
    redis.call('SREM', prefix .. 'policy-lineages:' .. policy, lineage)
    if redis.call('EXISTS', prefix .. 'policy-lineages:' .. policy) == 0 then
      redis.call('DEL', prefix .. 'key-policy:' .. policy)
    end
  end
  redis.call('DEL', line)
end
`

/**
 * Loads an account. KEYS[1] the account; ARGV the prefix. Returns the revision and, per key, the fields of its hash.
 */
export const LOAD: RedisScript = redisScript(`
local reply = { redis.call('HGET', KEYS[1], 'revision') or '0' }
for _, id in ipairs(redis.call('HKEYS', KEYS[1])) do
  if id ~= 'revision' then
    table.insert(reply, redis.call('HMGET', ARGV[1] .. 'key:' .. id, 'record', 'digest', 'pepper', 'used'))
  end
end
return reply
`)

/**
 * Commits a write of keys. KEYS[1] the account; ARGV: prefix, stream, channel, revision, number of keys, 7 values per
 * key, number of policies, 3 values per policy, number of keys to delete, their ids, the account's audit key, number of
 * audit rows, 3 values per row, then the feed entries.
 */
export const COMMIT: RedisScript = redisScript(`${APPEND_FEED}${APPEND_AUDIT}${REMOVE}
local prefix = ARGV[1]
if (redis.call('HGET', KEYS[1], 'revision') or '0') ~= ARGV[4] then return 0 end
redis.call('HSET', KEYS[1], 'revision', string.format('%.0f', tonumber(ARGV[4]) + 1))
local at = 6
for _ = 1, tonumber(ARGV[5]) do
  local id, lineage, record, digest, pepper, used, ended = unpack(ARGV, at, at + 6)
  redis.call('HSET', KEYS[1], id, '')
  redis.call('HSET', prefix .. 'key:' .. id, 'record', record, 'digest', digest, 'pepper', pepper,
    'used', used, 'account', KEYS[1], 'lineage', lineage)
  redis.call('HSET', prefix .. 'lineage:' .. lineage, 'k' .. id, '')
  if ended == '' then redis.call('ZREM', prefix .. 'ended-keys', id)
  else redis.call('ZADD', prefix .. 'ended-keys', ended, id) end
  at = at + 7
end
local policies = tonumber(ARGV[at])
at = at + 1
for _ = 1, policies do
  redis.call('SET', prefix .. 'key-policy:' .. ARGV[at], ARGV[at + 2], 'NX')
  redis.call('SADD', prefix .. 'policy-lineages:' .. ARGV[at], ARGV[at + 1])
  redis.call('HSET', prefix .. 'lineage:' .. ARGV[at + 1], 'p' .. ARGV[at], '')
  at = at + 3
end
local dropped = tonumber(ARGV[at])
for index = at + 1, at + dropped do remove(prefix, ARGV[index]) end
at = at + 1 + dropped
local rows = tonumber(ARGV[at + 1])
audit(ARGV[at], ARGV, at + 2, rows)
append(ARGV[2], ARGV[3], ARGV, at + 2 + 3 * rows)
return 1
`)

/**
 * Records uses. KEYS[1] any key of the slot; ARGV: prefix, then per use: id, at, digest, pepper (both '' without a
 * rehash).
 */
export const TOUCH: RedisScript = redisScript(`
for at = 2, #ARGV, 4 do
  local key = ARGV[1] .. 'key:' .. ARGV[at]
  local account = redis.call('HGET', key, 'account')
  if account then
    local used = redis.call('HGET', key, 'used')
    if used == '' or tonumber(used) < tonumber(ARGV[at + 1]) then redis.call('HSET', key, 'used', ARGV[at + 1]) end
    if ARGV[at + 2] ~= '' then redis.call('HSET', key, 'digest', ARGV[at + 2], 'pepper', ARGV[at + 3]) end
    redis.call('HINCRBY', account, 'revision', 1)
  end
end
return 1
`)

/** Deletes ended keys. KEYS[1] the sorted set of ended keys; ARGV: prefix, the instant, the limit. */
export const COLLECT: RedisScript = redisScript(`${REMOVE}
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. ARGV[2], 'LIMIT', 0, ARGV[3])
for _, id in ipairs(ids) do remove(ARGV[1], id) end
return #ids
`)

/** The arguments of `COMMIT`. */
export function commitArgs(
  { prefix, stream, channel }: LaneNames,
  revision: number,
  write: KeyWrite,
): string[] {
  const { drop = [] } = write
  const keys = write.keys.flatMap(({ digest, pepperId, lastUsedAt, ...key }) => {
    const end = endOf({ ...key, lastUsedAt })
    const used = lastUsedAt === null ? '' : String(lastUsedAt)
    const ended = Number.isFinite(end) ? String(end) : ''
    return [key.id, key.lineageId, JSON.stringify(key), digest, pepperId, used, ended]
  })
  const policies = write.policies.flatMap(({ id, lineageId, document }) => [
    id,
    lineageId,
    JSON.stringify(document),
  ])
  return [
    prefix,
    stream,
    channel,
    String(revision),
    String(write.keys.length),
    ...keys,
    String(write.policies.length),
    ...policies,
    String(drop.length),
    ...drop,
    ...auditArgs(prefix, write.audit ?? []),
    ...write.feed.map(change => JSON.stringify(change)),
  ]
}

/** The arguments of `TOUCH`. */
export function touchArgs(prefix: string, uses: readonly KeyUse[]): string[] {
  const values = uses.flatMap(({ id, at, rehash }) => [
    id,
    String(at),
    rehash?.digest ?? '',
    rehash?.pepperId ?? '',
  ])
  return [prefix, ...values]
}
