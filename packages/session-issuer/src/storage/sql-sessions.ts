import { FEED_RETENTION_MS, GRACE_MS, keyDigest, sqlFeed, type EpochMs } from '@gatewright/kernel'
import {
  rows,
  toInteger,
  toText,
  type SqlClient,
  type SqlDialect,
  type SqlQueries,
  type SqlRow,
} from '@gatewright/kernel/sql'
import type { AuditEntry } from './audit-port.ts'
import { appendAudit, AUDIT_COLUMNS, auditTable, auditValues } from './sql-audit.ts'
import { appendToFeed } from './sql-feed.ts'
import { parse, readPolicy, readSession } from './parse-records.ts'
import { parameters } from './sql-keys.ts'
import type { PolicyRecord, SessionRecord, SessionStorage } from './port.ts'

function toSession(row: SqlRow): SessionRecord {
  const revokedAt = row['revoked_at']
  return readSession({
    ...(parse(row['record']) as object),
    revokedAt: revokedAt === null ? null : toInteger(revokedAt),
  })
}

/**
 * `SessionStorage` on either SQL store. Adding to a tree of sessions, or revoking part of it, first locks the row of
 * the tree's root, so an insert under a revoked parent cannot be missed by the statement that revokes its relatives.
 */
export function sqlSessionStorage(db: SqlClient, dialect: SqlDialect, prefix: string): SessionStorage {
  const [sessions, policies] = ['sessions', 'session_policies'].map(name => prefix + name) as [string, string]
  // Two hosts that collect at once take different rows instead of waiting for each other.
  const skip = dialect === 'postgres' ? 'for update skip locked' : ''
  const lockTree = (tx: SqlQueries, rootId: string): Promise<unknown> =>
    rows(tx, `update ${sessions} set root_id = root_id where id = $1`, [rootId])

  const put = async (
    tx: SqlQueries,
    session: SessionRecord,
    audit: AuditEntry | undefined,
  ): Promise<boolean> => {
    const { revokedAt, ...record } = session
    const rootId = session.ancestry[0] ?? session.sessionId
    const path = [...session.ancestry, session.sessionId].join('/')
    const parentId = session.ancestry.at(-1) ?? null
    const insert = `insert into ${sessions} (id, account, root_id, path, expires_at, revoked_at, record)
        select $1, $2, $3, $4, cast($5 as bigint), cast($6 as bigint), $7
        where cast($8 as text) is null
          or exists (select 1 from ${sessions} where id = $8 and revoked_at is null)
        returning 1 as stored`
    const values = [
      ...[session.sessionId, keyDigest(session.accountId), rootId, path, session.expiresAt, revokedAt],
      ...[JSON.stringify(record), parentId],
    ]
    if (audit && dialect === 'postgres') {
      // One statement, so that the most frequent mint, by a key and without a policy, is one round trip.
      const insertBoth = `with stored as (${insert}), audited as (
        insert into ${auditTable(prefix)} ${AUDIT_COLUMNS}
        select cast($9 as text), cast($10 as text), cast($11 as bigint), cast($12 as bigint), cast($13 as text)
        from stored) select stored from stored`
      return (await rows(tx, insertBoth, [...values, ...auditValues(audit)])).length > 0
    }
    const [row] = await rows(tx, insert, values)
    if (row && audit) await appendAudit(tx, prefix, [audit])
    return row !== undefined
  }
  const putPolicies = async (tx: SqlQueries, id: string, own: readonly PolicyRecord[]): Promise<void> => {
    for (const policy of own) {
      await rows(tx, `insert into ${policies} (id, session_id, document) values ($1, $2, $3)`, [
        ...[policy.id, id, JSON.stringify(policy.document)],
      ])
    }
  }

  const appendRevocations = async (
    tx: SqlQueries,
    ended: readonly SqlRow[],
    now: EpochMs,
  ): Promise<number> => {
    const changes = ended.map(row => ({ kind: 'session' as const, id: toText(row['id']), at: now }))
    await appendToFeed(tx, dialect, prefix, changes)
    return ended.length
  }

  return {
    insert: (session, own, audit) => {
      const rootId = session.ancestry[0]
      const single = audit === undefined || dialect === 'postgres'
      if (rootId === undefined && own.length === 0 && single) return put(db, session, audit)
      return db.transaction(async tx => {
        if (rootId !== undefined) await lockTree(tx, rootId)
        if (!(await put(tx, session, audit))) return false
        await putPolicies(tx, session.sessionId, own)
        return true
      })
    },
    async find(id) {
      const [row] = await rows(db, `select record, revoked_at from ${sessions} where id = $1`, [id])
      return row && toSession(row)
    },
    async list(accountId, limit, now) {
      const found = await rows(
        db,
        `select record, revoked_at from ${sessions} where account = $1 and expires_at > $2
          and revoked_at is null order by expires_at desc limit $3`,
        [keyDigest(accountId), now, limit],
      )
      return found.map(toSession)
    },
    revoke: (id, now, audit) =>
      db.transaction(async tx => {
        const [target] = await rows(tx, `select root_id, path from ${sessions} where id = $1`, [id])
        if (!target) return 0
        const rootId = toText(target['root_id'])
        await lockTree(tx, rootId)
        const path = toText(target['path'])
        const ended = await rows(
          tx,
          `update ${sessions} set revoked_at = $1 where root_id = $2 and (path = $3 or substr(path, 1, length($4)) = $4)
            and revoked_at is null and expires_at > $1 returning id`,
          [now, rootId, path, `${path}/`],
        )
        if (audit && ended.length > 0) await appendAudit(tx, prefix, [audit])
        return appendRevocations(tx, ended, now)
      }),
    revokeAccount: (accountId, limit, now) =>
      db.transaction(async tx => {
        const ended = await rows(
          tx,
          `update ${sessions} set revoked_at = $1 where id in
            (select id from ${sessions} where account = $2 and expires_at > $1 and revoked_at is null
              order by id limit $3) and revoked_at is null returning id`,
          [now, keyDigest(accountId), limit],
        )
        return appendRevocations(tx, ended, now)
      }),
    async policies(ids) {
      if (ids.length === 0) return []
      const text = `select id, document from ${policies} where id in (${parameters(ids.length)})`
      return (await rows(db, text, ids)).map(row => readPolicy(row['id'], row['document']))
    },
    async collect(limit, now) {
      return db.transaction(async tx => {
        const deleted = await rows(
          tx,
          `delete from ${sessions} where id in
            (select id from ${sessions} where expires_at <= $1 order by expires_at limit $2 ${skip}) returning id`,
          [now - GRACE_MS, limit],
        )
        const ids = deleted.map(row => toText(row['id']))
        if (ids.length > 0) {
          await rows(tx, `delete from ${policies} where session_id in (${parameters(ids.length)})`, ids)
        }
        const { table } = sqlFeed(prefix)
        await rows(
          tx,
          `delete from ${table} where position in
            (select position from ${table} where at < $1 order by at limit $2 ${skip})`,
          [now - FEED_RETENTION_MS, limit],
        )
        return deleted.length
      })
    },
  }
}
