import { FEED_RETENTION_MS, keyDigest, malformedReply, orFault } from '@gatewright/kernel'
import type { RedisClient } from '@gatewright/kernel/redis'
import { runScript, type RedisScript } from '@gatewright/kernel/internal/redis'
import { assertRoute, routeOf, routeOfId } from '../route.ts'
import type { SessionRecord, SessionStorage } from './port.ts'
import { parse, readSession } from './parse-records.ts'
import { auditArgs } from './redis-audit.ts'
import { collectLanes, type RedisLane, type RedisLanes } from './redis-lanes.ts'
import { INSERT, insertArgs, LIST, REVOKE, REVOKE_ACCOUNT, TRIM } from './redis-session-scripts.ts'
import { readPolicies } from './redis-keys.ts'

function toSession(stored: unknown): SessionRecord {
  if (typeof stored !== 'string') throw malformedReply('redis', 'a session')
  const bar = stored.indexOf('|')
  const revoked = stored.slice(0, bar)
  return readSession({
    ...(parse(stored.slice(bar + 1)) as object),
    revokedAt: revoked === '' ? null : Number(revoked),
  })
}

/** `SessionStorage` in Redis: one script, one round trip and one hash slot per method, except `policies` and `collect`. */
export function redisSessionStorage(client: RedisClient, lanes: RedisLanes): SessionStorage {
  const sessionsOf = ({ prefix }: RedisLane, accountId: string): string =>
    `${prefix}sessions:${keyDigest(accountId)}`
  const count = async (script: RedisScript, key: string, args: readonly string[]): Promise<number> => {
    const reply = await runScript(client, script, key, args)
    if (!Number.isSafeInteger(reply)) throw malformedReply('redis', 'a count')
    return reply as number
  }
  return {
    async insert(session, own, audit) {
      const route = routeOf(session.accountId)
      const ids = [session.sessionId, ...session.ancestry].map(id => ({ id }))
      assertRoute(route, ids, own)
      const { prefix, inScripts } = lanes.of(route)
      const args = insertArgs(inScripts.prefix, session, own, audit)
      return (await count(INSERT, `${prefix}session:${session.sessionId}`, args)) === 1
    },
    async find(id) {
      const key = `${lanes.of(routeOfId(id)).prefix}session:${id}`
      const stored = await orFault('redis', () => client.run(key, ['GET', key]))
      return stored === null ? undefined : toSession(stored)
    },
    async list(accountId, limit, now, after) {
      const from = after ? [String(after.at), after.id] : ['+inf', '']
      const lane = lanes.of(routeOf(accountId))
      const args = [lane.inScripts.prefix, String(now), String(limit), ...from]
      const stored = await runScript(client, LIST, sessionsOf(lane, accountId), args)
      if (!Array.isArray(stored)) throw malformedReply('redis', 'sessions')
      return stored.map(toSession)
    },
    async revoke(id, now, audit) {
      const lane = lanes.of(routeOfId(id))
      const { prefix, stream, channel } = lane.inScripts
      const auditing = auditArgs(prefix, audit ? [audit] : [])
      const args = [prefix, stream, channel, String(now), id, ...auditing]
      return count(REVOKE, `${lane.prefix}session:${id}`, args)
    },
    async revokeAccount(accountId, limit, now) {
      const lane = lanes.of(routeOf(accountId))
      const { prefix, stream, channel } = lane.inScripts
      const args = [prefix, stream, channel, String(now), String(limit)]
      return count(REVOKE_ACCOUNT, sessionsOf(lane, accountId), args)
    },
    policies: ids => readPolicies(client, lanes, 'session-policy:', ids),
    // Sessions expire by themselves.
    collect: (limit, now) =>
      collectLanes(lanes, limit, ({ stream }, left) =>
        count(TRIM, stream, [String(now - FEED_RETENTION_MS), String(left)]),
      ),
  }
}
