import { keyDigest } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import type { AuditEntry } from './audit-port.ts'
import { appendAudit, AUDIT_COLUMNS, auditTable, auditValues } from './sql-audit.ts'
import type { PolicyRecord, SessionRecord } from './port.ts'
import { assertRoute, routeOfDigest, routeOfId } from '../route.ts'
import { laneOfDigest, laneOfId } from './sql-parameters.ts'

/** The statements by which the methods of `sqlSessionStorage` write sessions in an open transaction. */
interface SessionWrites {
  /** Locks the row of the first session of a tree until the transaction ends. */
  lockTree(tx: SqlQueries, rootId: string): Promise<unknown>
  /** Inserts a session and its audit row. False when its parent is unknown or revoked. */
  insert(tx: SqlQueries, session: SessionRecord, audit: AuditEntry | undefined): Promise<boolean>
  insertPolicies(tx: SqlQueries, sessionId: string, own: readonly PolicyRecord[]): Promise<void>
}

/** Makes the writing statements for one table prefix. */
export function sessionWrites(prefix: string): SessionWrites {
  const [sessions, policies] = ['sessions', 'session_policies'].map(name => prefix + name) as [string, string]
  const lockTree = (tx: SqlQueries, rootId: string): Promise<unknown> =>
    rows(tx, `update ${sessions} set root_id = root_id where lane = $1 and id = $2`, [
      laneOfId(rootId),
      rootId,
    ])

  const insert = async (
    tx: SqlQueries,
    session: SessionRecord,
    audit: AuditEntry | undefined,
  ): Promise<boolean> => {
    const { revokedAt, ...record } = session
    const rootId = session.ancestry[0] ?? session.sessionId
    const account = keyDigest(session.accountId)
    assertRoute(
      routeOfDigest(account),
      [session.sessionId, ...session.ancestry].map(id => ({ id })),
    )
    const path = [...session.ancestry, session.sessionId].join('/')
    const parentId = session.ancestry.at(-1) ?? null
    const text = `insert into ${sessions} (lane, id, account, root_id, path, expires_at, revoked_at, record)
        select $9, $1, $2, $3, $4, cast($5 as bigint), cast($6 as bigint), $7
        where cast($8 as text) is null
          or exists (select 1 from ${sessions} where lane = $9 and id = $8 and revoked_at is null)
        returning 1 as stored`
    const values = [
      session.sessionId,
      account,
      rootId,
      path,
      session.expiresAt,
      revokedAt,
      JSON.stringify(record),
      parentId,
      laneOfDigest(account),
    ]
    if (audit && tx.dialect === 'postgres') {
      // One statement, so that the most frequent mint, by a key and without a policy, is one round trip.
      const insertBoth = `with stored as (${text}), audited as (
        insert into ${auditTable(prefix)} ${AUDIT_COLUMNS}
        select cast($10 as text), cast($11 as text), cast($12 as text), cast($13 as bigint), cast($14 as bigint),
          cast($15 as text) from stored) select stored from stored`
      return (await rows(tx, insertBoth, [...values, ...auditValues(audit)])).length > 0
    }
    const [row] = await rows(tx, text, values)
    if (row && audit) await appendAudit(tx, prefix, [audit])
    return row !== undefined
  }
  const insertPolicies = async (tx: SqlQueries, id: string, own: readonly PolicyRecord[]): Promise<void> => {
    assertRoute(routeOfId(id), [], own)
    for (const policy of own) {
      await rows(tx, `insert into ${policies} (lane, id, session_id, document) values ($1, $2, $3, $4)`, [
        laneOfId(id),
        policy.id,
        id,
        JSON.stringify(policy.document),
      ])
    }
  }

  return { lockTree, insert, insertPolicies }
}
