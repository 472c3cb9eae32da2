import { keyDigest, malformedReply, orFault, redisFeed } from '@gatewright/kernel'
import type { RedisClient } from '@gatewright/kernel/redis'
import { runScript } from '@gatewright/kernel/internal/redis'
import { laneOfAccount } from './feed-lane.ts'
import type { KeyRecord, KeyStorage } from './port.ts'
import { parse, readKey, readPolicy } from './parse-records.ts'
import { COLLECT, COMMIT, commitArgs, LOAD, TOUCH, touchArgs } from './redis-key-scripts.ts'

/** Parses the fields of a key's hash, as HMGET returns them. */
function toKey(fields: unknown): KeyRecord {
  if (!Array.isArray(fields) || fields.length !== 4) throw malformedReply('redis', 'the fields of a key')
  const [record, digest, pepperId, used] = fields as unknown[]
  const lastUsedAt = used === '' ? null : Number(used)
  return readKey({ ...(parse(record) as object), digest, pepperId, lastUsedAt })
}

/** `KeyStorage` in Redis: one script, one round trip and one hash slot per method. */
export function redisKeyStorage(client: RedisClient, prefix: string): KeyStorage {
  const feed = redisFeed(prefix)
  const accountKey = (accountId: string): string => `${prefix}account:${keyDigest(accountId)}`
  return {
    async find(id) {
      const key = `${prefix}key:${id}`
      const fields = await orFault('redis', () =>
        client.run(key, ['HMGET', key, 'record', 'digest', 'pepper', 'used']),
      )
      const missing = Array.isArray(fields) && fields.length === 4 && fields.every(field => field === null)
      return missing ? undefined : toKey(fields)
    },
    async load(accountId) {
      const reply = await runScript(client, LOAD, accountKey(accountId), [prefix])
      const [revision, ...keys] = Array.isArray(reply) ? (reply as unknown[]) : []
      if (!/^\d+$/.test(String(revision))) throw malformedReply('redis', 'a revision and keys')
      return { revision: Number(revision), keys: keys.map(toKey) }
    },
    async commit(accountId, revision, write) {
      const { streams, channel } = feed
      const stream = streams[laneOfAccount(accountId)] as string
      const args = commitArgs(prefix, { stream, channel }, revision, write)
      const reply = await runScript(client, COMMIT, accountKey(accountId), args)
      if (reply !== 0 && reply !== 1) throw malformedReply('redis', '0 or 1')
      return reply === 1
    },
    async touch(uses) {
      if (uses.length === 0) return
      await runScript(client, TOUCH, `${prefix}ended-keys`, touchArgs(prefix, uses))
    },
    policies: ids => readPolicies(client, `${prefix}key-policy:`, ids),
    async collect(limit, endedBefore) {
      const args = [prefix, String(endedBefore), String(limit)]
      const reply = await runScript(client, COLLECT, `${prefix}ended-keys`, args)
      if (!Number.isSafeInteger(reply)) throw malformedReply('redis', 'a count')
      return reply as number
    },
  }
}

/** Reads the policies that are stored; the others are left out. */
export async function readPolicies(
  client: RedisClient,
  prefix: string,
  ids: readonly string[],
): ReturnType<KeyStorage['policies']> {
  const [first] = ids
  if (first === undefined) return []
  const found = await orFault('redis', () =>
    client.run(prefix + first, ['MGET', ...ids.map(id => prefix + id)]),
  )
  if (!Array.isArray(found) || found.length !== ids.length) throw malformedReply('redis', 'policies')
  return ids.flatMap((id, index) => {
    const document = (found as unknown[])[index]
    return document === null ? [] : [readPolicy(id, document)]
  })
}
