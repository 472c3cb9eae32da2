import { FEED_RETENTION_MS, GRACE_MS, keyDigest, type FeedChange, type EpochMs } from '@gatewright/kernel'
import { rows, type SqlClient, type SqlRow } from '@gatewright/kernel/sql'
import { takesDue, toInteger, toText } from '@gatewright/kernel/internal/sql'
import { appendAudit } from './sql-audit.ts'
import { sqlFeedWriter } from './sql-feed.ts'
import { sessionWrites } from './sql-session-writes.ts'
import { parse, readPolicy, readSession } from './parse-records.ts'
import { inLanes, laneOfDigest, laneOfId, laneOfPolicy } from './sql-parameters.ts'
import type { SessionRecord, SessionStorage } from './port.ts'

function toSession(row: SqlRow): SessionRecord {
  const revokedAt = row['revoked_at']
  return readSession({
    ...(parse(row['record']) as object),
    revokedAt: revokedAt === null ? null : toInteger(revokedAt),
  })
}

/** How many sessions a transaction has revoked, and what it appends to the feed for them. */
const revoked = (
  ended: readonly SqlRow[],
  now: EpochMs,
): { readonly result: number; readonly changes: readonly FeedChange[] } => ({
  result: ended.length,
  changes: ended.map(row => ({ kind: 'session', id: toText(row['id']), at: now })),
})

/**
 * `SessionStorage` on either SQL store. Adding to a tree of sessions, or revoking part of it, first locks the row of
 * the tree's root, so an insert under a revoked parent cannot be missed by the statement that revokes its relatives.
 */
export function sqlSessionStorage(db: SqlClient, prefix: string): SessionStorage {
  const [sessions, policies] = ['sessions', 'session_policies'].map(name => prefix + name) as [string, string]
  const write = sessionWrites(prefix)
  const feed = sqlFeedWriter(db, prefix)

  return {
    insert: (session, own, audit) => {
      const rootId = session.ancestry[0]
      const single = audit === undefined || db.dialect === 'postgres'
      if (rootId === undefined && own.length === 0 && single) return write.insert(db, session, audit)
      return db.transaction(async tx => {
        if (rootId !== undefined) await write.lockTree(tx, rootId)
        if (!(await write.insert(tx, session, audit))) return false
        await write.insertPolicies(tx, session.sessionId, own)
        return true
      })
    },
    async find(id) {
      const [row] = await rows(db, `select record, revoked_at from ${sessions} where lane = $1 and id = $2`, [
        laneOfId(id),
        id,
      ])
      return row && toSession(row)
    },
    async list(accountId, limit, now, { at, id } = { at: Number.MAX_SAFE_INTEGER, id: '' }) {
      const account = keyDigest(accountId)
      const found = await rows(
        db,
        `select record, revoked_at from ${sessions} where lane = $1 and account = $2 and expires_at > $3
          and (expires_at, id) < ($4, $5) and revoked_at is null
          order by expires_at desc, id desc limit $6`,
        [laneOfDigest(account), account, now, at, id, limit],
      )
      return found.map(toSession)
    },
    revoke: (id, now, audit) =>
      feed.transaction(laneOfId(id), async tx => {
        const [target] = await rows(tx, `select root_id, path from ${sessions} where lane = $1 and id = $2`, [
          laneOfId(id),
          id,
        ])
        if (!target) return { result: 0, changes: [] }
        const rootId = toText(target['root_id'])
        await write.lockTree(tx, rootId)
        const path = toText(target['path'])
        const ended = await rows(
          tx,
          `update ${sessions} set revoked_at = $1 where lane = $5 and root_id = $2 and (path = $3 or substr(path, 1, length($4)) = $4)
            and revoked_at is null and expires_at > $1 returning id`,
          [now, rootId, path, `${path}/`, laneOfId(rootId)],
        )
        if (audit && ended.length > 0) await appendAudit(tx, prefix, [audit])
        return revoked(ended, now)
      }),
    revokeAccount: (accountId, limit, now) => {
      const account = keyDigest(accountId)
      const lane = laneOfDigest(account)
      return feed.transaction(lane, async tx => {
        const ended = await rows(
          tx,
          `update ${sessions} set revoked_at = $1 where lane = $4 and id in
            (select id from ${sessions} where lane = $4 and account = $2 and expires_at > $1 and revoked_at is null
              order by id limit $3) and revoked_at is null returning id`,
          [now, account, limit, lane],
        )
        return revoked(ended, now)
      })
    },
    async policies(ids) {
      if (ids.length === 0) return []
      const { text, values } = inLanes(ids, laneOfPolicy)
      const found = await rows(db, `select id, document from ${policies} where ${text}`, values)
      return found.map(row => readPolicy(row['id'], row['document']))
    },
    async collect(limit, now) {
      const due = { due: 'expires_at <= $1', order: 'expires_at', limit: '$2' }
      const taken = await takesDue(db, { table: sessions, key: 'lane, id', ...due })
      return db.transaction(async tx => {
        const text = `delete from ${sessions} where ${taken} returning id`
        const deleted = await rows(tx, text, [now - GRACE_MS, limit])
        if (deleted.length > 0) {
          const ids = deleted.map(row => toText(row['id']))
          const owned = inLanes(ids, laneOfId, 'session_id')
          await rows(tx, `delete from ${policies} where ${owned.text}`, owned.values)
        }
        return Math.max(deleted.length, await feed.collect(tx, limit, now - FEED_RETENTION_MS))
      })
    },
  }
}
