import type { SqlClient, SqlQueries } from '@gatewright/kernel/sql'
import type { Approval, ApprovalStorage } from '@gatewright/scope-guard'
import { events } from './events.ts'

/** Where approvals of a host are stored: outside and inside of the transaction of a write. */
interface ApprovalStores {
  readonly db: SqlClient
  readonly inTransaction: (tx: SqlQueries) => ApprovalStorage
}

/** Stores approvals with an event for each that is opened and decided, in one transaction. */
export function approvalsWithEvents({ db, inTransaction }: ApprovalStores): ApprovalStorage {
  const stored = inTransaction(db)
  return {
    ...stored,
    open: (approval, most) =>
      db.transaction(async tx => {
        const opened = await inTransaction(tx).open(approval, most)
        if (opened.outcome === 'opened') await record(tx, opened.approval, 'requested', approval.requestedAt)
        return opened
      }),
    decide: (accountId, id, decision, now) =>
      db.transaction(async tx => {
        const decided = await inTransaction(tx).decide(accountId, id, decision, now)
        if (decided.outcome === 'decided') await record(tx, decided.approval, decision.state, now)
        return decided
      }),
  }
}

/** Records what happened to an approval, whose row is locked. */
function record(
  tx: SqlQueries,
  { id, request }: Approval,
  to: 'requested' | 'approved' | 'denied',
  now: number,
): Promise<void> {
  const { accountId, amountCents, currency } = request
  const from = to === 'requested' ? null : 'requested'
  const amount = currency === 'USD' ? amountCents : null
  const subject = { kind: 'approval', id }
  return events.record(tx, { accountId, subject, from, to, cause: 'approval', amountCents: amount }, now)
}
