import type { EpochMs, FeedChange, Session, Surface } from '@gatewright/kernel'
import type { AuditEntry } from './audit-port.ts'

/** Who made a key: another key, or a session of it. */
export interface KeyMaker {
  readonly keyId: string
  readonly lineageId: string
  /** The sessions it acted by, from the first to the one that asked; empty when the key itself asked. */
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
  /** Who created the first key of the lineage; null for a root, which a wallet or the operator made. */
  readonly createdBy: KeyMaker | null
  /** Who got this key by rotating its predecessor from above; null for nobody, the operator, or the key itself. */
  readonly rotatedBy: KeyMaker | null
  /** The key that replaced this one by rotation. */
  readonly successorId: string | null
  /** Starts at 1; any change raises it and ends the sessions minted before. */
  readonly version: number
  readonly createdAt: EpochMs
  /** The key is good while `now < expiresAt`; null has no end. */
  readonly expiresAt: EpochMs | null
  readonly revokedAt: EpochMs | null
  /** To within the flush interval of the hosts that use it. */
  readonly lastUsedAt: EpochMs | null
}

/** A key as it is stored. */
export interface KeyRecord extends ApiKey {
  /** Keyed digest of the key text. */
  readonly digest: string
  readonly pepperId: string
}

/** A policy document. Never changed once written: a new document gets a new id. Opaque JSON here. */
export interface PolicyRecord {
  readonly id: string
  readonly document: unknown
}

/** A policy of a key. It is deleted with the last key of its lineage. */
export interface KeyPolicyRecord extends PolicyRecord {
  readonly lineageId: string
}

/** What one commit writes, all of it or nothing. */
export interface KeyWrite {
  /** New keys, and changed ones in full. */
  readonly keys: readonly KeyRecord[]
  /** Ended keys to delete, with the policies of lineages of which no key is left. */
  readonly drop?: readonly string[]
  /** A policy that is already stored stays as it is. */
  readonly policies: readonly KeyPolicyRecord[]
  /** Appended to the revocation feed, in this order. */
  readonly feed: readonly FeedChange[]
  /** Audit rows of this account. Default none. */
  readonly audit?: readonly AuditEntry[]
}

/** One use of a key, to be recorded some time later. */
export interface KeyUse {
  readonly id: string
  readonly at: EpochMs
  /** The digest under the newest pepper, when the stored one is older. */
  readonly rehash?: { readonly digest: string; readonly pepperId: string }
}

/**
 * The truth about API keys. The keys of one account change together, under the account's revision: whoever
 * decides on what it loaded commits against that revision, so no decision rests on rows that have changed.
 * Faults of every verb: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`; a commit may then have taken effect.
 */
export interface KeyStorage {
  /** The key of an id, in whatever state. */
  find(id: string): Promise<KeyRecord | undefined>

  /** All keys of an account with the revision they were read at, as one consistent picture. Revision 0: none. */
  load(accountId: string): Promise<{ readonly revision: number; readonly keys: readonly KeyRecord[] }>

  /**
   * Writes everything in one atomic step if the account is still at `revision`, and raises it. Of any number
   * of simultaneous commits at one revision exactly one resolves true; the others resolve false and wrote nothing.
   */
  commit(accountId: string, revision: number, write: KeyWrite): Promise<boolean>

  /**
   * Records uses: `lastUsedAt` becomes the latest of what is stored and given, a rehash replaces the digest.
   * Raises the revision of the accounts concerned, so that a commit never overwrites a use. Unknown ids are ignored.
   */
  touch(uses: readonly KeyUse[]): Promise<void>

  /** The policies of these ids that are stored here, in any order. */
  policies(ids: readonly string[]): Promise<readonly PolicyRecord[]>

  /**
   * Deletes up to `limit` keys that were revoked or past their end before `endedBefore`, with the policies of
   * lineages of which no key is left, and says how many keys. Safe from every host at once.
   */
  collect(limit: number, endedBefore: EpochMs): Promise<number>
}

/** A session as it is stored. */
export interface SessionRecord extends Session {
  /** The sessions it was minted from, from the first to its parent. Empty when a key minted it. */
  readonly ancestry: readonly string[]
  readonly label: string | null
  readonly revokedAt: EpochMs | null
}

/**
 * The truth about sessions. Faults of every verb: `ERR_STORE_UNAVAILABLE`, `ERR_STORE_REPLY`; a write may
 * then have taken effect.
 */
export interface SessionStorage {
  /**
   * Stores a session, its own policies and an audit row in one atomic step, if its parent (the last of `ancestry`)
   * is stored and not revoked. An insert that meets the revocation of a session above it either resolves false or
   * is revoked with it.
   */
  insert(session: SessionRecord, policies: readonly PolicyRecord[], audit?: AuditEntry): Promise<boolean>

  /** The session of an id, in whatever state. */
  find(id: string): Promise<SessionRecord | undefined>

  /** Up to `limit` sessions of an account that are not revoked and live at `now`, latest end first. */
  list(accountId: string, limit: number, now: EpochMs): Promise<readonly SessionRecord[]>

  /**
   * Revokes a session and every session minted from it, appending each to the feed in the same atomic step, and
   * the audit row if any was revoked. Resolves to the number revoked by this call: 0 when there was nothing live.
   * Of simultaneous calls one counts each.
   */
  revoke(id: string, now: EpochMs, audit?: AuditEntry): Promise<number>

  /**
   * Revokes up to `limit` live sessions of an account, appending each to the feed in the same atomic step.
   * Resolves to the number revoked by this call; 0 means that none was live.
   */
  revokeAccount(accountId: string, limit: number, now: EpochMs): Promise<number>

  /** The policies of these ids that are stored here, in any order. */
  policies(ids: readonly string[]): Promise<readonly PolicyRecord[]>

  /**
   * Deletes up to `limit` sessions, with their policies, that ended at least `GRACE_MS` before `now`, and up
   * to `limit` feed entries older than `FEED_RETENTION_MS`. Says how many sessions. Safe from every host at once.
   */
  collect(limit: number, now: EpochMs): Promise<number>
}
