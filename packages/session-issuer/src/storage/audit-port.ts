import type { EpochMs } from '@gatewright/kernel'

/** What was done. One row each for the key or session named by `target`. */
export type AuditAction =
  | 'key.create'
  | 'key.change'
  | 'key.rotate'
  | 'key.revoke'
  /** Ended to make room for a fresh proof of the wallet. */
  | 'key.retire'
  | 'session.create'
  /** Ended, and with it every session minted from it. */
  | 'session.end'
  /** The keys that the session made were revoked; a `key.revoke` row follows for each that was live. */
  | 'session.revokeKeys'
  /** Every key and session of the account was ended. */
  | 'account.revoke'

/** Which credential a change was made with. `wallet` and `operator` have no key of ours. */
export interface AuditActor {
  readonly by: 'wallet' | 'operator' | 'partner' | 'key' | 'session'
  readonly keyId: string | null
  readonly sessionId: string | null
}

/** One change of a key, a policy or a session. It holds ids and rights, no secret. */
export interface AuditEntry extends AuditActor {
  /** Random; tells rows of one instant apart. */
  readonly id: string
  /** The account that the target belongs to. */
  readonly accountId: string
  readonly at: EpochMs
  /** The row may be deleted from here on. */
  readonly expiresAt: EpochMs
  readonly action: AuditAction
  /** The id of the key, session or account. */
  readonly target: string
  /** The scopes that a key has after the change; null where the target is not a key. */
  readonly scopes: readonly string[] | null
  /** The policy chain that the target has after the change. */
  readonly policyIds: readonly string[]
}

/**
 * Reads and collects the audit rows that `KeyStorage` and `SessionStorage` write in the step of each change. Faults:
 * `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`.
 */
export interface AuditStorage {
  /** Up to `limit` rows of an account from before an instant, newest first. */
  list(accountId: string, limit: number, before: EpochMs): Promise<readonly AuditEntry[]>

  /** Deletes up to `limit` rows with `expiresAt <= now` and says how many. Safe from every host at once. */
  collect(limit: number, now: EpochMs): Promise<number>
}
