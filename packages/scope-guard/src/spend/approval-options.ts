import { checkOptions } from '@gatewright/kernel/internal'
import type { Approval, ApprovalStorage } from '../storage/approvals-port.ts'

/** Options of approvals: where they are stored, and where their owner decides. */
export interface ApprovalOptions {
  readonly store: ApprovalStorage
  /** Returns the address at which the owner of the account decides. Clients get it, so it must not be a secret. */
  readonly url: (approval: Pick<Approval, 'id' | 'request'>) => string
  /** How long an approval may be decided and used after it was asked for, in seconds, 1 to 604 800 (7 days), default 3600. */
  readonly lifetimeSeconds?: number
  /** How many open approvals an account may have, 1 to 100, default 20. A request beyond that is denied. */
  readonly mostOpen?: number
}
export type CheckedApprovals = Required<ApprovalOptions>

/** Names the request that a spend belongs to, so that it can wait for an approval. */
export interface ApprovedFor {
  /** The same for every repeat of the request with its idempotency key, and for no other request: its `effectId`. */
  readonly requestId: string
  /** What uses the approval: the `effectId`, or in a transaction another one for each run. Used again for the same, and for no other. */
  readonly effectId: string
}

/** Checks the options. Throws a `TypeError` for a wrong one. */
export function checkedApprovals(given: ApprovalOptions): CheckedApprovals {
  if (typeof given.store?.open !== 'function')
    throw new TypeError(
      `createGuard approvals: store must be memoryApprovals(), redisApprovals(client), postgresApprovals(db) or sqliteApprovals(db), got ${typeof given.store}`,
    )
  return checkOptions('createGuard approvals', given, {
    store: true,
    url: { is: 'function' },
    lifetimeSeconds: { min: 1, max: 604_800, default: 3600 },
    mostOpen: { min: 1, max: 100, default: 20 },
  })
}
