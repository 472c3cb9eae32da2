import type { EpochMs } from '@gatewright/kernel'

/** What was done. Each row is about the key, session, account or approval named by `target`. */
export type AuditAction =
  | 'key.create'
  | 'key.change'
  | 'key.rotate'
  | 'key.revoke'
  /** The key, and with it the keys below, was paused, and its sessions ended. */
  | 'key.pause'
  | 'key.resume'
  /**
   * The key was retired because a quota was reached: that of live keys for a new root key of the wallet, or that of consoles
   * for a new console.
   */
  | 'key.retire'
  | 'session.create'
  /** The session ended, and every session minted from it. */
  | 'session.end'
  /** The keys that the session created were revoked; a `key.revoke` row follows for each that was live. */
  | 'session.revokeKeys'
  /** Every key and session of the account ended. */
  | 'account.revoke'
  /** An operator froze the account, or ended that: a product writes these rows and the next ones (`appendProductAudit`). */
  | 'account.freeze'
  | 'account.unfreeze'
  /** An approval that a key asked for was decided. */
  | 'approval.approve'
  | 'approval.deny'

/** The credential of the caller. `wallet` and `operator` have neither a key nor a session. */
export interface AuditActor {
  readonly by: 'wallet' | 'operator' | 'partner' | 'key' | 'session'
  readonly keyId: string | null
  readonly sessionId: string | null
}

/** One change of a key, a policy or a session. It contains ids and rights, no secret. */
export interface AuditEntry extends AuditActor {
  /** Random, so that rows of one instant have different ids. */
  readonly id: string
  /** The account that the target belongs to. */
  readonly accountId: string
  readonly at: EpochMs
  /** The row may be deleted from this instant on. */
  readonly expiresAt: EpochMs
  readonly action: AuditAction
  /** The id of the key, session, account or approval. */
  readonly target: string
  /** The label that a key has after the change; null where the target is not a key or has none. */
  readonly label: string | null
  /** The scopes that a key has after the change; null where the target is not a key. */
  readonly scopes: readonly string[] | null
  /** The policy chain that the target has after the change. */
  readonly policyIds: readonly string[]
}

/** A position in the audit rows of an account: that of a row, such as the last of a page, or without `id` that of an instant. */
export interface AuditPosition {
  readonly at: EpochMs
  readonly id?: string
}

/**
 * Lists and deletes the audit rows that `KeyStorage` and `SessionStorage` write in the same step as each change.
 * Faults: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`.
 */
export interface AuditStorage {
  /** Lists up to `limit` rows of an account, newest first, those of one instant by descending `id`, starting after `before`. */
  list(accountId: string, limit: number, before: AuditPosition): Promise<readonly AuditEntry[]>

  /**
   * Deletes up to `limit` rows with `expiresAt <= now` and resolves to their number. Any number of hosts may call it at
   * once. Stores that expire rows themselves do nothing and resolve to 0.
   */
  collect(limit: number, now: EpochMs): Promise<number>
}
