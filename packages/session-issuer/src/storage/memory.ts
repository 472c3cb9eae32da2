import { FEED_RETENTION_MS, GRACE_MS, type EpochMs, type MemoryFeed } from '@gatewright/kernel'
import { checkOptions, warnMemoryStorage } from '@gatewright/kernel/internal'
import { laneOfAccount } from './feed-lane.ts'
import { endOf, isAfter, keyUsed, newestFirst } from './parse-records.ts'
import type { AuditEntry, AuditStorage } from './audit-port.ts'
import type {
  IssuerStorage,
  KeyPolicyRecord,
  KeyRecord,
  KeyStorage,
  PolicyRecord,
  SessionRecord,
  SessionStorage,
} from './port.ts'

/** Options of `memoryCredentials`. */
export interface MemoryCredentialsOptions {
  /** The feed that revocations are appended to; give it to the guard of this process as well. */
  readonly feed: MemoryFeed
}

/** Keys, sessions and audit rows in the memory of one process, lost at exit. For tests and single-process tools. */
export function memoryCredentials(options: MemoryCredentialsOptions): IssuerStorage {
  const { feed } = checkOptions('memoryCredentials', options, { feed: { is: 'object' } })
  warnMemoryStorage('session-issuer')
  const audit: AuditEntry[] = []
  return { keys: keyStorage(feed, audit), sessions: sessionStorage(feed, audit), audit: auditStorage(audit) }
}

function auditStorage(entries: AuditEntry[]): AuditStorage {
  return {
    list: async (accountId, limit, { at, id = '' }) =>
      entries
        .filter(entry => entry.accountId === accountId)
        .filter(entry => entry.at < at || (entry.at === at && entry.id < id))
        .sort((one, other) => other.at - one.at || (one.id < other.id ? 1 : -1))
        .slice(0, limit),
    async collect(limit, now) {
      const expired = new Set(entries.filter(entry => entry.expiresAt <= now).slice(0, limit))
      const remaining = entries.filter(entry => !expired.has(entry))
      entries.splice(0, entries.length, ...remaining)
      return expired.size
    },
  }
}

function keyStorage(feed: MemoryFeed, audit: AuditEntry[]): KeyStorage {
  const records = new Map<string, KeyRecord>()
  const revisions = new Map<string, number>()
  const policies = new Map<string, KeyPolicyRecord[]>()
  const raise = (accountId: string): void => {
    revisions.set(accountId, (revisions.get(accountId) ?? 0) + 1)
  }
  const deleteOrphanedPolicies = (): void => {
    const lineages = new Set([...records.values()].map(key => key.lineageId))
    for (const [id, copies] of policies) {
      const left = copies.filter(copy => lineages.has(copy.lineageId))
      if (left.length > 0) policies.set(id, left)
      else policies.delete(id)
    }
  }
  return {
    find: async id => records.get(id),
    load: async accountId => ({
      revision: revisions.get(accountId) ?? 0,
      keys: [...records.values()].filter(key => key.accountId === accountId),
    }),
    async commit(accountId, revision, write) {
      if ((revisions.get(accountId) ?? 0) !== revision) return false
      raise(accountId)
      for (const policy of write.policies) {
        const copies = policies.get(policy.id) ?? []
        if (copies.some(copy => copy.lineageId === policy.lineageId)) continue
        policies.set(policy.id, [...copies, policy])
      }
      for (const key of write.keys) records.set(key.id, key)
      for (const id of write.drop ?? []) records.delete(id)
      if (write.drop?.length) deleteOrphanedPolicies()
      feed.append(write.feed, laneOfAccount(accountId))
      audit.push(...(write.audit ?? []))
      return true
    },
    async touch(uses) {
      for (const use of uses) {
        const key = records.get(use.id)
        if (!key) continue
        records.set(use.id, keyUsed(key, use))
        raise(key.accountId)
      }
    },
    policies: async ids => findPolicies(id => policies.get(id)?.[0], ids),
    async collect(limit, endedBefore) {
      const ended = [...records.values()].filter(key => endOf(key) < endedBefore).slice(0, limit)
      for (const key of ended) records.delete(key.id)
      deleteOrphanedPolicies()
      return ended.length
    },
  }
}

function sessionStorage(feed: MemoryFeed, audit: AuditEntry[]): SessionStorage {
  const records = new Map<string, SessionRecord>()
  const policies = new Map<string, PolicyRecord & { sessionId: string }>()
  const revokeWhere = (now: EpochMs, limit: number, matches: (session: SessionRecord) => boolean): number => {
    const ending = [...records.values()]
      .filter(one => matches(one) && one.revokedAt === null && now < one.expiresAt)
      .slice(0, limit)
    for (const one of ending) records.set(one.sessionId, { ...one, revokedAt: now })
    // All of them are sessions of one account.
    const [first] = ending
    const changes = ending.map(one => ({ kind: 'session' as const, id: one.sessionId, at: now }))
    if (first) feed.append(changes, laneOfAccount(first.accountId))
    return ending.length
  }
  return {
    async insert(session, own, entry) {
      const parent = session.ancestry.at(-1)
      if (parent !== undefined && records.get(parent)?.revokedAt !== null) return false
      records.set(session.sessionId, session)
      for (const policy of own) policies.set(policy.id, { ...policy, sessionId: session.sessionId })
      if (entry) audit.push(entry)
      return true
    },
    find: async id => records.get(id),
    list: async (accountId, limit, now, after) =>
      [...records.values()]
        .filter(one => one.accountId === accountId && one.revokedAt === null && now < one.expiresAt)
        .map(one => ({ one, at: one.expiresAt, id: one.sessionId }))
        .filter(row => isAfter(row, after))
        .sort(newestFirst)
        .slice(0, limit)
        .map(({ one }) => one),
    async revoke(id, now, entry) {
      const ended = revokeWhere(now, Infinity, one => one.sessionId === id || one.ancestry.includes(id))
      if (entry && ended > 0) audit.push(entry)
      return ended
    },
    revokeAccount: async (accountId, limit, now) =>
      revokeWhere(now, limit, one => one.accountId === accountId),
    policies: async ids => findPolicies(id => policies.get(id), ids),
    async collect(limit, now) {
      const ended = [...records.values()].filter(one => one.expiresAt <= now - GRACE_MS).slice(0, limit)
      for (const one of ended) records.delete(one.sessionId)
      for (const [id, policy] of policies) if (!records.has(policy.sessionId)) policies.delete(id)
      feed.dropBefore(now - FEED_RETENTION_MS)
      return ended.length
    },
  }
}

function findPolicies(
  find: (id: string) => PolicyRecord | undefined,
  ids: readonly string[],
): PolicyRecord[] {
  return ids.flatMap(id => {
    const policy = find(id)
    return policy ? [{ id, document: policy.document }] : []
  })
}
