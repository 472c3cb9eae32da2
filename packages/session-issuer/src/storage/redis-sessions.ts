import { FEED_RETENTION_MS, keyDigest, malformedReply, orFault, redisFeed } from '@gatewright/kernel'
import type { RedisClient } from '@gatewright/kernel/redis'
import { runScript, type RedisScript } from '@gatewright/kernel/internal/redis'
import { laneOf, routeOf, routeOfId } from '../route.ts'
import type { SessionRecord, SessionStorage } from './port.ts'
import { parse, readSession } from './parse-records.ts'
import { auditArgs } from './redis-audit.ts'
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

/** `SessionStorage` in Redis: one script, one round trip and one hash slot per method. */
export function redisSessionStorage(client: RedisClient, prefix: string): SessionStorage {
  const feed = redisFeed(prefix)
  const streamOf = (route: string): string => feed.streams[laneOf(route)] as string
  const sessionsOf = (accountId: string): string => `${prefix}sessions:${keyDigest(accountId)}`
  const count = async (script: RedisScript, key: string, args: readonly string[]): Promise<number> => {
    const reply = await runScript(client, script, key, args)
    if (!Number.isSafeInteger(reply)) throw malformedReply('redis', 'a count')
    return reply as number
  }
  return {
    async insert(session, own, audit) {
      const args = insertArgs(prefix, session, own, audit)
      const reply = await count(INSERT, `${prefix}session:${session.sessionId}`, args)
      return reply === 1
    },
    async find(id) {
      const key = `${prefix}session:${id}`
      const stored = await orFault('redis', () => client.run(key, ['GET', key]))
      return stored === null ? undefined : toSession(stored)
    },
    async list(accountId, limit, now, after) {
      const from = after ? [String(after.at), after.id] : ['+inf', '']
      const args = [prefix, String(now), String(limit), ...from]
      const stored = await runScript(client, LIST, sessionsOf(accountId), args)
      if (!Array.isArray(stored)) throw malformedReply('redis', 'sessions')
      return stored.map(toSession)
    },
    revoke: (id, now, audit) =>
      count(REVOKE, `${prefix}session:${id}`, [
        prefix,
        streamOf(routeOfId(id)),
        feed.channel,
        String(now),
        id,
        ...auditArgs(prefix, audit ? [audit] : []),
      ]),
    revokeAccount: (accountId, limit, now) =>
      count(REVOKE_ACCOUNT, sessionsOf(accountId), [
        prefix,
        streamOf(routeOf(accountId)),
        feed.channel,
        String(now),
        String(limit),
      ]),
    policies: ids => readPolicies(client, `${prefix}session-policy:`, ids),
    // Sessions expire by themselves.
    async collect(limit, now) {
      let trimmed = 0
      for (const stream of feed.streams)
        if (trimmed < limit)
          trimmed += await count(TRIM, stream, [String(now - FEED_RETENTION_MS), String(limit - trimmed)])
      return trimmed
    },
  }
}
