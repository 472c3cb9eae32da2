import type { EpochMs, FeedChange, Session, Surface } from '@gatewright/kernel'
import type { AuditEntry, AuditStorage } from './audit-port.ts'

/** Who created a key: another key, or a session of it. */
export interface KeyCreator {
  readonly keyId: string
  readonly lineageId: string
  /** The sessions it acted by, from the first to the calling one; empty when the key itself was presented. */
  readonly sessionIds: readonly string[]
}

/** An API key as callers may see it: no secret, no digest. */
export interface ApiKey {
  readonly id: string
  /** Safe to display: the first part of the key text. */
  readonly prefix: string
  readonly surface: Surface
  /** The account that owns the key; for a partner key the partner's id. */
  readonly accountId: string
  readonly userId: string | null
  readonly walletAddress: string | null
  readonly scopes: readonly string[]
  /** From root to leaf; all of them must allow. */
  readonly policyIds: readonly string[]
  /** How many of `policyIds` come from the keys above. The rest are the key's own. */
  readonly inheritedPolicies: number
  /** The same for a key and its successors by rotation: the id of the first of them. */
  readonly lineageId: string
  /** The lineages above, from the root to the parent. Empty for a root. */
  readonly ancestry: readonly string[]
  /** The key that created this one, or null for a root. */
  readonly parentId: string | null
  /** Who created the first key of the lineage; null for a root, which a wallet or the operator created. */
  readonly createdBy: KeyCreator | null
  /**
   * Who got this key by rotating its predecessor from above; null when that was the operator, the wallet or the key itself,
   * or when the key has no predecessor.
   */
  readonly rotatedBy: KeyCreator | null
  /** The key that replaced this one by rotation. */
  readonly successorId: string | null
  /** Starts at 1. Any change raises it and ends the sessions minted before. */
  readonly version: number
  readonly createdAt: EpochMs
  /** The key is valid while `now < expiresAt`; null: it does not expire. */
  readonly expiresAt: EpochMs | null
  readonly revokedAt: EpochMs | null
  /** Accurate to the flush interval of the hosts that use the key. */
  readonly lastUsedAt: EpochMs | null
  /**
   * Whether it is the key of a console: nobody has its text, its one session was issued with it, and both end together.
   */
  readonly console: boolean
}

/** A key as it is stored. */
export interface KeyRecord extends ApiKey {
  /** Keyed digest of the key text. */
  readonly digest: string
  readonly pepperId: string
}

/** A policy document, opaque JSON to this package. It never changes once written: a new document gets a new id. */
export interface PolicyRecord {
  readonly id: string
  readonly document: unknown
}

/**
 * A policy of a key. Keys that one session creates have its policy, so several lineages can store the same one: it is deleted with
 * the last key of the last of them.
 */
export interface KeyPolicyRecord extends PolicyRecord {
  readonly lineageId: string
}

/** What one commit writes, completely or not at all. */
export interface KeyWrite {
  /** New keys, and changed keys in full. */
  readonly keys: readonly KeyRecord[]
  /** Ended keys to delete, with the policies that only lineages without a key have. */
  readonly drop?: readonly string[]
  /** Policies to store. A policy that is already stored does not change; its new lineage is remembered. */
  readonly policies: readonly KeyPolicyRecord[]
  /** Appended to the revocation feed, in this order. */
  readonly feed: readonly FeedChange[]
  /** Audit rows of this account. Default none. */
  readonly audit?: readonly AuditEntry[]
}

/** One use of a key, to be recorded later. */
export interface KeyUse {
  readonly id: string
  readonly at: EpochMs
  /** The digest under the newest pepper, when the stored one is older. */
  readonly rehash?: { readonly digest: string; readonly pepperId: string }
}

/**
 * The authoritative store of API keys. The keys of one account change together, under the account's revision: a
 * decision is committed against the revision that it was based on, so it never rests on rows that have changed. Faults
 * of every verb: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`; a commit may then have taken effect.
 */
export interface KeyStorage {
  /** The key with an id, in whatever state. */
  find(id: string): Promise<KeyRecord | undefined>

  /**
   * All keys of an account with the revision they were read at, as one consistent snapshot. Revision 0: nothing was
   * ever committed.
   */
  load(accountId: string): Promise<{ readonly revision: number; readonly keys: readonly KeyRecord[] }>

  /**
   * Writes everything in one atomic step if the account is still at `revision`, and raises the revision. Of any number
   * of simultaneous commits at one revision exactly one resolves to true; the others resolve to false and write
   * nothing.
   */
  commit(accountId: string, revision: number, write: KeyWrite): Promise<boolean>

  /**
   * Records uses: `lastUsedAt` becomes the later of the stored and the given time, a rehash replaces the digest. It
   * raises the revision of the accounts, so that a commit never overwrites a use. Unknown ids are ignored.
   */
  touch(uses: readonly KeyUse[]): Promise<void>

  /** The policies of these ids that are stored here, in any order. */
  policies(ids: readonly string[]): Promise<readonly PolicyRecord[]>

  /**
   * Deletes up to `limit` keys that were revoked or expired before `endedBefore`, with the policies that only lineages without
   * a key have. Resolves to the number of deleted keys. Any number of hosts may call it at once.
   */
  collect(limit: number, endedBefore: EpochMs): Promise<number>
}

/** A place in a list: that of a row, by the instant that the list is ordered by, and its id. It stays when the row is deleted. */
export interface ListPosition {
  readonly at: EpochMs
  readonly id: string
}

/** A session as it is stored. */
export interface SessionRecord extends Session {
  /** The sessions it was minted from, from the first to its parent. Empty when a key minted it. */
  readonly ancestry: readonly string[]
  readonly label: string | null
  readonly revokedAt: EpochMs | null
}

/**
 * The authoritative store of sessions. Faults of every verb: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`; a write may
 * then have taken effect.
 */
export interface SessionStorage {
  /**
   * Stores a session, its own policies and an audit row in one atomic step, if its parent (the last of `ancestry`) is
   * stored and not revoked; otherwise resolves to false. When a session above it is revoked at the same moment, the
   * insert either resolves to false or the new session is revoked too.
   */
  insert(session: SessionRecord, policies: readonly PolicyRecord[], audit?: AuditEntry): Promise<boolean>

  /** The session with an id, in whatever state. */
  find(id: string): Promise<SessionRecord | undefined>

  /**
   * Up to `limit` sessions of an account that are not revoked and live at `now`: latest end first, those that end at one instant
   * by falling id. With `after` only those that follow this place (`at` is an end).
   */
  list(
    accountId: string,
    limit: number,
    now: EpochMs,
    after?: ListPosition,
  ): Promise<readonly SessionRecord[]>

  /**
   * Revokes a session and every session minted from it, and appends each to the feed and the audit row, if any was
   * revoked, in the same atomic step. Resolves to the number revoked by this call; 0 when none was live. Each session
   * is counted by one of several simultaneous calls.
   */
  revoke(id: string, now: EpochMs, audit?: AuditEntry): Promise<number>

  /**
   * Revokes up to `limit` live sessions of an account, and appends each to the feed in the same atomic step. Resolves
   * to the number revoked by this call; 0 means that none was live.
   */
  revokeAccount(accountId: string, limit: number, now: EpochMs): Promise<number>

  /** The policies of these ids that are stored here, in any order. */
  policies(ids: readonly string[]): Promise<readonly PolicyRecord[]>

  /**
   * Deletes up to `limit` sessions, with their policies, that ended at least `GRACE_MS` before `now`, and up to `limit`
   * feed entries older than `FEED_RETENTION_MS`. Resolves to the larger of the two numbers, so that its caller goes on while
   * either is `limit`. Any number of hosts may call it at once.
   */
  collect(limit: number, now: EpochMs): Promise<number>
}

/** The storages that every adapter of this package implements over one store, so that they change in one step. */
export interface IssuerStorage {
  readonly keys: KeyStorage
  readonly sessions: SessionStorage
  /** The audit rows that `keys` and `sessions` write. */
  readonly audit: AuditStorage
}
