import { keyDigest, malformedReply, orFault } from '@gatewright/kernel'
import type { RedisClient } from '@gatewright/kernel/redis'
import { runScript } from '@gatewright/kernel/internal/redis'
import { assertRoute, routeOf, routeOfId, routeOfPolicy } from '../route.ts'
import type { KeyRecord, KeyStorage, PolicyRecord } from './port.ts'
import { parse, readKey, readPolicy } from './parse-records.ts'
import { byLane, collectLanes, type RedisLane, type RedisLanes } from './redis-lanes.ts'
import { COLLECT, COMMIT, commitArgs, LOAD, TOUCH, touchArgs } from './redis-key-scripts.ts'

/** Parses the fields of a key's hash, as HMGET returns them. */
function toKey(fields: unknown): KeyRecord {
  if (!Array.isArray(fields) || fields.length !== 4) throw malformedReply('redis', 'the fields of a key')
  const [record, digest, pepperId, used] = fields as unknown[]
  const lastUsedAt = used === '' ? null : Number(used)
  return readKey({ ...(parse(record) as object), digest, pepperId, lastUsedAt })
}

/** `KeyStorage` in Redis: one script, one round trip and one hash slot per method and lane. */
export function redisKeyStorage(client: RedisClient, lanes: RedisLanes): KeyStorage {
  const accountKey = ({ prefix }: RedisLane, accountId: string): string =>
    `${prefix}account:${keyDigest(accountId)}`
  return {
    async find(id) {
      const key = `${lanes.of(routeOfId(id)).prefix}key:${id}`
      const fields = await orFault('redis', () =>
        client.run(key, ['HMGET', key, 'record', 'digest', 'pepper', 'used']),
      )
      const missing = Array.isArray(fields) && fields.length === 4 && fields.every(field => field === null)
      return missing ? undefined : toKey(fields)
    },
    async load(accountId) {
      const lane = lanes.of(routeOf(accountId))
      const reply = await runScript(client, LOAD, accountKey(lane, accountId), [lane.inScripts.prefix])
      const [revision, ...keys] = Array.isArray(reply) ? (reply as unknown[]) : []
      if (!/^\d+$/.test(String(revision))) throw malformedReply('redis', 'a revision and keys')
      return { revision: Number(revision), keys: keys.map(toKey) }
    },
    async commit(accountId, revision, write) {
      const route = routeOf(accountId)
      assertRoute(route, write.keys, write.policies)
      const lane = lanes.of(route)
      const args = commitArgs(lane.inScripts, revision, write)
      const reply = await runScript(client, COMMIT, accountKey(lane, accountId), args)
      if (reply !== 0 && reply !== 1) throw malformedReply('redis', '0 or 1')
      return reply === 1
    },
    async touch(uses) {
      await Promise.all(
        byLane(lanes, uses, use => routeOfId(use.id)).map(([{ prefix, inScripts }, group]) =>
          runScript(client, TOUCH, `${prefix}ended-keys`, touchArgs(inScripts.prefix, group)),
        ),
      )
    },
    policies: ids => readPolicies(client, lanes, 'key-policy:', ids),
    collect: (limit, endedBefore) =>
      collectLanes(lanes, limit, async ({ prefix, inScripts }, left) => {
        const args = [inScripts.prefix, String(endedBefore), String(left)]
        const reply = await runScript(client, COLLECT, `${prefix}ended-keys`, args)
        if (!Number.isSafeInteger(reply)) throw malformedReply('redis', 'a count')
        return reply as number
      }),
  }
}

/** Reads the policies that are stored, by one command for each lane; the others are left out. */
export async function readPolicies(
  client: RedisClient,
  lanes: RedisLanes,
  kind: 'key-policy:' | 'session-policy:',
  ids: readonly string[],
): ReturnType<KeyStorage['policies']> {
  const readLane = async ({ prefix }: RedisLane, group: readonly string[]): Promise<PolicyRecord[]> => {
    const keys = group.map(id => `${prefix}${kind}${id}`)
    const found = await orFault('redis', () => client.run(keys[0] as string, ['MGET', ...keys]))
    if (!Array.isArray(found) || found.length !== keys.length) throw malformedReply('redis', 'policies')
    return group.flatMap((id, index) => {
      const document = (found as unknown[])[index]
      return document === null ? [] : [readPolicy(id, document)]
    })
  }
  const groups = byLane(lanes, ids, routeOfPolicy)
  return (await Promise.all(groups.map(([lane, group]) => readLane(lane, group)))).flat()
}
