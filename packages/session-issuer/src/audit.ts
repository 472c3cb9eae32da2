import type { EpochMs } from '@gatewright/kernel'
import { isSession, type Caller } from './keys/authority.ts'
import { randomBase62 } from './random.ts'
import type { AuditAction, AuditActor, AuditEntry } from './storage/audit-port.ts'
import type { KeyRecord, KeyWrite } from './storage/port.ts'

/** What an audit row says, before it is known when and by whom. */
export type Note = Pick<AuditEntry, 'action' | 'target' | 'scopes' | 'policyIds'>

/** A write of keys with what has to be noted about it. */
export interface NotedWrite extends KeyWrite {
  readonly by: AuditActor
  readonly notes: readonly Note[]
}

/** Who acts, as audit rows name it. */
export function actorOf(caller: Caller | 'wallet'): AuditActor {
  if (typeof caller === 'string') return { by: caller, keyId: null, sessionId: null }
  if (isSession(caller)) return { by: 'session', keyId: caller.keyId, sessionId: caller.sessionId }
  return { by: caller.surface === 'partner' ? 'partner' : 'key', keyId: caller.id, sessionId: null }
}

/** A note for each of these keys. */
export function notesOn(action: AuditAction, keys: readonly KeyRecord[]): Note[] {
  return keys.map(({ id, scopes, policyIds }) => ({ action, target: id, scopes, policyIds }))
}

/** A note about something that is not a key. */
export function noteOn(action: AuditAction, target: string, policyIds: readonly string[] = []): Note {
  return { action, target, scopes: null, policyIds }
}

/** Makes audit rows that are kept for a number of days. */
export function entryMaker(retentionDays: number) {
  return (accountId: string, by: AuditActor, note: Note, at: EpochMs): AuditEntry => {
    const expiresAt = at + retentionDays * 86_400_000
    return { ...{ id: randomBase62(16), accountId, at, expiresAt }, ...by, ...note }
  }
}
