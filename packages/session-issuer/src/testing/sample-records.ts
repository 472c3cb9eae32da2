import { randomUUID } from 'node:crypto'
import type { KeyRecord, KeyWrite, SessionRecord } from '../storage/port.ts'
import type { AuditEntry } from '../storage/audit-port.ts'
import { routeOf } from '../route.ts'
import { MINUTE, NOW } from './storage-under-test.ts'

/** A random id of a row of an account. */
const idOf = (accountId: string): string => routeOf(accountId) + randomUUID()

/** A random id of a policy of an account. */
export const policyIdOf = (accountId: string): string => `pol_${idOf(accountId)}`

/** A key record with a random id. */
export function keyRecord(accountId: string, changes: Partial<KeyRecord> = {}): KeyRecord {
  const id = changes.id ?? idOf(accountId)
  return {
    id,
    prefix: `gw_sandbox_user_${id}`,
    label: null,
    surface: 'user',
    accountId,
    userId: null,
    walletAddress: null,
    scopes: ['users.read'],
    policyIds: [],
    inheritedPolicies: 0,
    lineageId: id,
    ancestry: [],
    parentId: null,
    createdBy: null,
    rotatedBy: null,
    successorId: null,
    version: 1,
    createdAt: NOW,
    expiresAt: null,
    revokedAt: null,
    pauses: [],
    lastUsedAt: null,
    console: false,
    digest: 'digest',
    pepperId: 'p1',
    ...changes,
  }
}

/** A commit of keys and nothing else. */
export const write = (...keys: KeyRecord[]): KeyWrite => ({ keys, policies: [], feed: [] })

/** A session record with a random id. */
export function sessionRecord(changes: Partial<SessionRecord> = {}): SessionRecord {
  const { accountId = randomUUID() } = changes
  return {
    sessionId: idOf(accountId),
    accountId,
    userId: null,
    walletAddress: null,
    surface: 'user',
    keyId: 'key',
    keyVersion: 1,
    policyIds: [],
    scopes: ['users.read'],
    issuedAt: NOW,
    expiresAt: NOW + 15 * MINUTE,
    ancestry: [],
    label: null,
    revokedAt: null,
    ...changes,
  }
}

/** A session minted from another. */
export function childOf(parent: SessionRecord): SessionRecord {
  const ancestry = [...parent.ancestry, parent.sessionId]
  return sessionRecord({ accountId: parent.accountId, expiresAt: parent.expiresAt, ancestry })
}

/** An audit row with a random id, which may be deleted a year later. */
export function auditEntry(accountId: string, changes: Partial<AuditEntry> = {}): AuditEntry {
  return {
    id: idOf(accountId),
    accountId,
    at: NOW,
    expiresAt: NOW + 365 * 24 * 60 * MINUTE,
    by: 'session',
    keyId: 'key',
    sessionId: 'session',
    action: 'key.create',
    target: 'target',
    label: null,
    scopes: ['users.read'],
    policyIds: ['policy'],
    ...changes,
  }
}
