import type { EpochMs } from '@gatewright/kernel'
import type { SqlClient, SqlQueries } from '@gatewright/kernel/sql'
import type { Approval, ApprovalStorage } from '@gatewright/scope-guard'
import type { ApiKey } from '@gatewright/session-issuer'
import type { SqlCredentialsOptions } from '@gatewright/session-issuer/postgres'
import { appendProductAudit } from '@gatewright/session-issuer/internal'
import { events } from './events.ts'

/** Stores approvals with the transaction of a write. */
type InTransaction = (tx: SqlQueries) => ApprovalStorage

/** Where approvals of a host are stored: outside and inside of the transaction of a write. */
interface ApprovalStores {
  readonly db: SqlClient
  readonly inTransaction: InTransaction
}

/**
 * Stores approvals with an event for each that is opened, decided or expired, and an audit row of each decision, in one transaction. Who decides is
 * given as the JSON of an audit row's actor: `{ by, keyId, sessionId }`.
 */
export function approvalsWithEvents({ db, inTransaction }: ApprovalStores): ApprovalStorage {
  const stored = inTransaction(db)
  return {
    ...stored,
    open: (approval, most) =>
      db.transaction(async tx => {
        const opened = await inTransaction(tx).open(approval, most)
        if (opened.outcome === 'opened')
          await record(tx, opened.approval, { to: 'requested', at: approval.requestedAt })
        return opened
      }),
    decide: (accountId, id, decision, now) =>
      db.transaction(async tx => {
        const decided = await inTransaction(tx).decide(accountId, id, decision, now)
        if (decided.outcome !== 'decided') return decided
        await record(tx, decided.approval, { from: 'requested', to: decision.state, at: now })
        await appendProductAudit(tx, {
          accountId,
          by: JSON.parse(decision.by) as Parameters<typeof appendProductAudit>[1]['by'],
          action: decision.state === 'approved' ? 'approval.approve' : 'approval.deny',
          target: id,
          at: now,
        })
        return decided
      }),
    expire: (limit, now) =>
      db.transaction(async tx => {
        const ended = await inTransaction(tx).expire(limit, now)
        for (const approval of ended)
          await recordEnd(tx, approval, { cause: 'deadline_passed', at: approval.expiresAt })
        return ended
      }),
  }
}

/** Ends the open approvals of keys that a commit revokes, ends or pauses, in its transaction, with an event for each. */
export function withdrawApprovals(
  inTransaction: InTransaction,
): NonNullable<SqlCredentialsOptions['withinCommit']> {
  return async (tx, accountId, { keys, feed }) => {
    // A commit that ends or pauses a key tells guards of it, at the instant of the commit.
    const [change] = feed
    if (!change) return
    const { at } = change
    const ended = keys.filter(key => !worksAt(key, at)).map(({ id }) => id)
    if (ended.length === 0) return
    for (const approval of await inTransaction(tx).withdraw(accountId, ended, at))
      await recordEnd(tx, approval, { cause: 'key_ended', at })
  }
}

const worksAt = ({ revokedAt, expiresAt, pauses }: ApiKey, at: EpochMs): boolean =>
  pauses.length === 0 && revokedAt === null && at < (expiresAt ?? Infinity)

/** Records that an approval ended before it was used. */
const recordEnd = (
  tx: SqlQueries,
  approval: Approval,
  { cause, at }: { readonly cause: 'deadline_passed' | 'key_ended'; readonly at: EpochMs },
): Promise<void> =>
  record(tx, approval, {
    from: approval.state === 'pending' ? 'requested' : 'approved',
    to: 'expired',
    cause,
    at,
  })

/** What happens to an approval. */
interface ApprovalChange {
  readonly from?: 'requested' | 'approved'
  readonly to: 'requested' | 'approved' | 'denied' | 'expired'
  /** Default: `approval`. */
  readonly cause?: string
  readonly at: EpochMs
}

/** Records what happened to an approval, whose row is locked. */
function record(
  tx: SqlQueries,
  { id, request }: Approval,
  { from, to, cause = 'approval', at }: ApprovalChange,
): Promise<void> {
  const { accountId, amountCents, currency } = request
  const amount = currency === 'USD' ? amountCents : null
  const subject = { kind: 'approval', id }
  return events.record(tx, { accountId, subject, from: from ?? null, to, cause, amountCents: amount }, at)
}
