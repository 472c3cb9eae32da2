import { keyDigest } from '@gatewright/kernel'
import { rows, type SqlClient, type SqlQueries, type SqlValue } from '@gatewright/kernel/sql'
import { DEFAULT_PREFIX, takesDue } from '@gatewright/kernel/internal/sql'
import { auditEntryBuilder, auditNote } from '../audit.ts'
import { AUDIT_RETENTION_DAYS } from '../limits.ts'
import type { AuditActor, AuditEntry, AuditStorage } from './audit-port.ts'
import { parse, readAuditEntry } from './parse-records.ts'
import { laneOfDigest, parameters } from './sql-parameters.ts'

/** How many columns an audit row has. */
const COLUMNS = 6
/** The columns of an audit row, in the order of `auditValues`. */
export const AUDIT_COLUMNS = '(lane, id, account, at, expires_at, entry)'

/** The table of audit rows. */
export const auditTable = (prefix: string): string => `${prefix}audit`

/** The values of a row. Accounts are looked up by digest, because a partner can choose any text as an account id. */
export function auditValues(entry: AuditEntry): SqlValue[] {
  const { id, accountId, at, expiresAt } = entry
  const account = keyDigest(accountId)
  return [laneOfDigest(account), id, account, at, expiresAt, JSON.stringify(entry)]
}

/** Appends rows in an open transaction, all by one statement. */
export async function appendAudit(
  tx: SqlQueries,
  prefix: string,
  entries: readonly AuditEntry[],
): Promise<void> {
  if (entries.length === 0) return
  const tuples = entries.map((_, n) => `(${parameters(COLUMNS, COLUMNS * n + 1)})`)
  const text = `insert into ${auditTable(prefix)} ${AUDIT_COLUMNS} values ${tuples.join(', ')}`
  await rows(tx, text, entries.flatMap(auditValues))
}

/** Writes the row of what a product lets somebody do to an account or a row of it, in the transaction of the change. The tables have the default prefix. */
export async function appendProductAudit(
  tx: SqlQueries,
  {
    accountId,
    by,
    action,
    target,
    at,
  }: Pick<AuditEntry, 'accountId' | 'action' | 'target' | 'at'> & { readonly by: AuditActor },
): Promise<void> {
  const build = auditEntryBuilder(AUDIT_RETENTION_DAYS)
  await appendAudit(tx, DEFAULT_PREFIX, [build(accountId, by, auditNote(action, target), at)])
}

/** `AuditStorage` on either SQL store. */
export function sqlAuditStorage(db: SqlClient, prefix: string): AuditStorage {
  const table = auditTable(prefix)
  return {
    async list(accountId, limit, { at, id = '' }) {
      const account = keyDigest(accountId)
      const found = await rows(
        db,
        `select entry from ${table} where lane = $1 and account = $2 and (at, id) < ($3, $4)
          order by at desc, id desc limit $5`,
        [laneOfDigest(account), account, at, id, limit],
      )
      return found.map(row => readAuditEntry(parse(row['entry'])))
    },
    async collect(limit, now) {
      const due = { due: 'expires_at <= $1', order: 'expires_at', limit: '$2' }
      const taken = await takesDue(db, { table, key: 'lane, id', ...due })
      return (await rows(db, `delete from ${table} where ${taken} returning id`, [now, limit])).length
    },
  }
}
