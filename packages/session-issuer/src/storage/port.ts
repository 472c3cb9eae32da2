import type { FeedChange, Session, EpochMs } from '@gatewright/kernel'
import type { Surface } from '@gatewright/kernel/internal'
import type { AuditEntry, AuditStorage } from './audit-port.ts'

/** Who created a key: another key, or a session of it. */
export interface KeyCreator {
  readonly keyId: string
  readonly lineageId: string
  /** The calling session and the sessions that it was minted from, the first one first; empty if the key itself was presented. */
  readonly sessionIds: readonly string[]
}

/** One pause of a key, which keys below it have too. */
export interface KeyPause {
  /** The lineage of the key that was paused. */
  readonly lineageId: string
  /** Who may resume it: what an operator paused, only an operator. */
  readonly by: 'owner' | 'operator'
  readonly at: EpochMs
}

/** An API key as callers may see it: no secret, no digest. */
export interface ApiKey {
  readonly id: string
  /** Safe to display: the first part of the key text. */
  readonly prefix: string
  /** What people call the key: not a secret, and not unique. A key and its successors by rotation have one label. */
  readonly label: string | null
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
  /** The id of the first key of the lineage; the same for a key and its successors by rotation. */
  readonly lineageId: string
  /** The lineages of the keys above, from the root to the parent. Empty for a root. */
  readonly ancestry: readonly string[]
  /** The key that created this one, or null for a root. */
  readonly parentId: string | null
  /** Who created the first key of the lineage; null for a root, which a wallet or the operator created. */
  readonly createdBy: KeyCreator | null
  /**
   * The key above this one that rotated its predecessor, and so got its text. Null: the operator, the wallet or the predecessor
   * itself rotated it, or there is no predecessor.
   */
  readonly rotatedBy: KeyCreator | null
  /** The key that replaced this one by rotation. */
  readonly successorId: string | null
  /** Starts at 1. Each change raises it and ends the sessions that were minted before. */
  readonly version: number
  readonly createdAt: EpochMs
  /** The key is valid while `now < expiresAt`; null: it does not expire. */
  readonly expiresAt: EpochMs | null
  readonly revokedAt: EpochMs | null
  /** The paused keys at or above this one. While there is one, this key works nowhere. Empty: it is not paused. */
  readonly pauses: readonly KeyPause[]
  /** The last use, accurate to 10 s. */
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
 * A policy of a key. Keys that one session creates have the policies of that session, so several lineages can store the same
 * policy. It is deleted when none of these lineages has a key left.
 */
export interface KeyPolicyRecord extends PolicyRecord {
  readonly lineageId: string
}

/** What one commit writes, completely or not at all. */
export interface KeyWrite {
  /** New keys, and changed keys in full. */
  readonly keys: readonly KeyRecord[]
  /** Ids of ended keys to delete. Policies whose lineages have no key left are deleted with them. */
  readonly drop?: readonly string[]
  /** Policies to store. A policy that is already stored does not change; its new lineage is added. */
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
 * The authoritative store of API keys. The ids of keys and sessions begin with two characters computed from their account, those of
 * policies have them after `pol_`: a storage may look a row up in one partition by them. Ids that callers send can be any text. The
 * keys of one account change together, under the account's revision: a decision is committed against the revision that it was based
 * on, so it is never based on rows that have changed. Faults of every method: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`; a commit
 * may then have taken effect.
 */
export interface KeyStorage {
  /** Returns the key with an id, whatever its state. */
  find(id: string): Promise<KeyRecord | undefined>

  /** Returns all keys of an account and its revision, as one consistent snapshot. Revision 0: nothing was ever committed. */
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

  /** Returns the policies with these ids that are stored here, in any order. */
  policies(ids: readonly string[]): Promise<readonly PolicyRecord[]>

  /**
   * Deletes up to `limit` keys that were revoked or expired before `endedBefore`, with the policies whose lineages then have no
   * key left. Resolves to the number of deleted keys. Any number of hosts may call it simultaneously.
   */
  collect(limit: number, endedBefore: EpochMs): Promise<number>
}

/**
 * The position of a row in a list: the instant that the list is ordered by, and the id of the row. It stays valid when the row
 * is deleted.
 */
export interface ListPosition {
  readonly at: EpochMs
  readonly id: string
}

/** A session as it is stored. */
export interface SessionRecord extends Session {
  /** The sessions that it was minted from, from the first to its parent. Empty if it was minted from a key. */
  readonly ancestry: readonly string[]
  readonly label: string | null
  readonly revokedAt: EpochMs | null
}

/**
 * The authoritative store of sessions. Faults of every method: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`; a write may
 * then have taken effect.
 */
export interface SessionStorage {
  /**
   * Stores a session, its own policies and an audit row in one atomic step, if its parent (the last of `ancestry`) is stored
   * and not revoked; otherwise resolves to false. If a session above it is revoked at the same moment, either the insert
   * resolves to false, or the new session is revoked, too.
   */
  insert(session: SessionRecord, policies: readonly PolicyRecord[], audit?: AuditEntry): Promise<boolean>

  /** Returns the session with an id, whatever its state. */
  find(id: string): Promise<SessionRecord | undefined>

  /**
   * Lists up to `limit` sessions of an account that are live at `now` and not revoked: latest end first, those that end at one
   * instant by descending id. With `after` the list starts after this position, whose `at` is the end of a session.
   */
  list(
    accountId: string,
    limit: number,
    now: EpochMs,
    after?: ListPosition,
  ): Promise<readonly SessionRecord[]>

  /**
   * Revokes a session and every session minted from it. In the same atomic step it appends each to the feed, and writes the
   * audit row if any was revoked. Resolves to the number revoked by this call; 0 if none was live. Of several simultaneous
   * calls, only one counts a session.
   */
  revoke(id: string, now: EpochMs, audit?: AuditEntry): Promise<number>

  /**
   * Revokes up to `limit` live sessions of an account, and appends each to the feed in the same atomic step. Resolves to the
   * number revoked by this call; 0 if none was live.
   */
  revokeAccount(accountId: string, limit: number, now: EpochMs): Promise<number>

  /** Returns the policies with these ids that are stored here, in any order. */
  policies(ids: readonly string[]): Promise<readonly PolicyRecord[]>

  /**
   * Deletes up to `limit` sessions, with their policies, that ended at least `GRACE_MS` before `now`, and up to `limit` feed
   * entries older than `FEED_RETENTION_MS`. Resolves to the larger of the two numbers: while it is `limit`, there is more to
   * delete. Any number of hosts may call it simultaneously.
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
