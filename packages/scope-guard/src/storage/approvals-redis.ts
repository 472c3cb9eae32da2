import { GRACE_MS, keyDigest, malformedReply, type EpochMs } from '@gatewright/kernel'
import { checkOptions } from '@gatewright/kernel/internal'
import { redisScript, runScript, type RedisScript } from '@gatewright/kernel/internal/redis'
import type { RedisClient } from '@gatewright/kernel/redis'
import type { Approval, ApprovalStorage } from './approvals-port.ts'
import { approvalOf, decidedText, requestText } from './approvals-text.ts'
import type { StorageOptions } from './options.ts'

// KEYS[1] is the account's key with a hash tag; every other key begins with it, so all keys are in one slot. Each approval is a hash. The
// sorted set has the open approvals by the end of their time. An expiry of a key only collects garbage: each script decides by ARGV[1], the time of its caller.
const FUNCTIONS = `
local now = tonumber(ARGV[1])
local opened = KEYS[1] .. ':open'
local function key(id) return KEYS[1] .. ':a:' .. id end
local function read(id)
  local found = redis.call('HMGET', key(id), 'state', 'expires', 'effect')
  return found[1], tonumber(found[2] or '0'), found[3]
end
local function whole(id)
  return redis.call('HMGET', key(id), 'id', 'request', 'state', 'requested', 'expires', 'by', 'at')
end
local function sweep() redis.call('ZREMRANGEBYSCORE', opened, '-inf', ARGV[1]) end
`

/** ARGV: now, id, the digest of the key, request, expiry, most, lifetime. Replies {2} if the account has the most, {1} if opened, {0, approval} if known. */
const OPEN: RedisScript = redisScript(`${FUNCTIONS}
local id = ARGV[2]
local state, expires = read(id)
if state and state ~= 'used' and expires > now then return {0, whole(id)} end
sweep()
if redis.call('ZCARD', opened) >= tonumber(ARGV[6]) then return {2} end
redis.call('DEL', key(id))
redis.call('HSET', key(id), 'id', id, 'owner', ARGV[3], 'request', ARGV[4], 'state', 'pending', 'requested', ARGV[1], 'expires', ARGV[5])
redis.call('PEXPIRE', key(id), ARGV[7])
redis.call('ZADD', opened, ARGV[5], id)
if redis.call('PTTL', opened) < tonumber(ARGV[7]) then redis.call('PEXPIRE', opened, ARGV[7]) end
return {1}
`)

/** ARGV: now, id. Replies the approval, or an empty list. */
const FIND: RedisScript = redisScript(`${FUNCTIONS}
local state, expires = read(ARGV[2])
if not state or expires <= now then return {} end
return whole(ARGV[2])
`)

/** ARGV: now. Replies the open approvals. */
const LIST: RedisScript = redisScript(`${FUNCTIONS}
sweep()
local all = {}
for _, id in ipairs(redis.call('ZRANGE', opened, 0, -1)) do all[#all + 1] = whole(id) end
return all
`)

/** ARGV: now, id, state, by. Replies {1, approval} if decided, {0, approval} if it was before, {2} if it is gone. */
const DECIDE: RedisScript = redisScript(`${FUNCTIONS}
local id = ARGV[2]
local state, expires = read(id)
if not state or expires <= now then return {2} end
if state ~= 'pending' then return {0, whole(id)} end
redis.call('HSET', key(id), 'state', ARGV[3], 'by', ARGV[4], 'at', ARGV[1])
if ARGV[3] == 'denied' then redis.call('ZREM', opened, id) end
return {1, whole(id)}
`)

/** ARGV: now, id, the digest of the effect. Replies 1 if used for the effect, now or before, else 0. */
const USE: RedisScript = redisScript(`${FUNCTIONS}
local id = ARGV[2]
local state, expires, effect = read(id)
if expires <= now then return 0 end
if state == 'used' and effect == ARGV[3] then return 1 end
if state ~= 'approved' then return 0 end
redis.call('HSET', key(id), 'state', 'used', 'effect', ARGV[3])
redis.call('ZREM', opened, id)
return 1
`)

/** ARGV: now, the digests of the keys. Replies the approvals that were ended. */
const WITHDRAW: RedisScript = redisScript(`${FUNCTIONS}
sweep()
local owners, ended = {}, {}
for at = 2, #ARGV do owners[ARGV[at]] = true end
for _, id in ipairs(redis.call('ZRANGE', opened, 0, -1)) do
  if owners[redis.call('HGET', key(id), 'owner')] then
    ended[#ended + 1] = whole(id)
    redis.call('DEL', key(id))
    redis.call('ZREM', opened, id)
  end
end
return ended
`)

/**
 * Stores approvals in Redis: one script, one slot, one round trip per call. Redis must run with `maxmemory-policy noeviction`. A failover to a replica
 * that lags can lose a decision, which is then asked for again, and the use of an approval, which can then be used once more.
 */
export function redisApprovals(client: RedisClient, options: StorageOptions = {}): ApprovalStorage {
  const { prefix } = checkOptions('redisApprovals', options, { prefix: { default: 'gw:approvals:' } })
  const run = (accountId: string, script: RedisScript, now: EpochMs, ...args: string[]): Promise<unknown> =>
    runScript(client, script, `${prefix}{${keyDigest(accountId)}}`, [String(now), ...args])
  return {
    async open({ id, request, requestedAt, expiresAt }, most) {
      const lifetime = String(Math.max(expiresAt - requestedAt, 0) + GRACE_MS)
      const stored = [keyDigest(request.keyId), requestText(request), String(expiresAt)]
      const reply = await run(request.accountId, OPEN, requestedAt, id, ...stored, String(most), lifetime)
      const [outcome, known] = listOf(reply)
      if (outcome === 2) return { outcome: 'full' }
      if (outcome === 0) return { outcome: 'known', approval: readApproval(known) }
      if (outcome !== 1) throw malformedReply('redis', '0, 1 or 2')
      const undecided = { state: 'pending', decidedBy: null, decidedAt: null } as const
      return { outcome: 'opened', approval: { id, request, requestedAt, expiresAt, ...undecided } }
    },
    async find(accountId, id, now) {
      const reply = listOf(await run(accountId, FIND, now, id))
      return reply.length === 0 ? undefined : readApproval(reply)
    },
    async list(accountId, now) {
      return readApprovals(await run(accountId, LIST, now))
    },
    async decide(accountId, id, { state, by }, now) {
      const [outcome, approval] = listOf(await run(accountId, DECIDE, now, id, state, decidedText(by)))
      if (outcome === 2) return { outcome: 'gone' }
      if (outcome !== 0 && outcome !== 1) throw malformedReply('redis', '0, 1 or 2')
      return { outcome: outcome === 1 ? 'decided' : 'already', approval: readApproval(approval) }
    },
    async use(accountId, id, effectId, now) {
      const reply = await run(accountId, USE, now, id, keyDigest(effectId))
      if (reply !== 0 && reply !== 1) throw malformedReply('redis', '0 or 1')
      return reply === 1
    },
    async withdraw(accountId, keyIds, now) {
      return readApprovals(await run(accountId, WITHDRAW, now, ...keyIds.map(keyDigest)))
    },
    expire: async () => [],
    collect: async () => 0,
  }
}

function listOf(reply: unknown): readonly unknown[] {
  if (!Array.isArray(reply)) throw malformedReply('redis', 'a list')
  return reply
}

/** Reads a list of approvals, oldest first. */
function readApprovals(reply: unknown): readonly Approval[] {
  const found = listOf(reply).map(readApproval)
  return found.sort((a, b) => a.requestedAt - b.requestedAt || (a.id < b.id ? -1 : 1))
}

function readApproval(reply: unknown): Approval {
  const [id, request, state, requested, expires, by, at] = listOf(reply)
  const approval = approvalOf({
    id: String(id),
    request: String(request),
    state: String(state),
    requestedAt: Number(requested),
    expiresAt: Number(expires),
    decidedBy: typeof by === 'string' ? by : null,
    decidedAt: typeof at === 'string' ? Number(at) : null,
  })
  if (!approval) throw malformedReply('redis', 'an approval')
  return approval
}
