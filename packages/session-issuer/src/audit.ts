import type { EpochMs } from '@gatewright/kernel'
import { isSession, type IssuerCaller } from './keys/authority.ts'
import { randomBase62 } from './random.ts'
import { routeOf } from './route.ts'
import type { AuditAction, AuditActor, AuditEntry } from './storage/audit-port.ts'
import type { KeyRecord, KeyWrite } from './storage/port.ts'

/** The content of an audit row without its time and its actor. */
type AuditNote = Pick<AuditEntry, 'action' | 'target' | 'label' | 'scopes' | 'policyIds'>

/** A write of keys, with the actor and the notes for its audit rows. */
export interface AuditedKeyWrite extends KeyWrite {
  readonly by: AuditActor
  readonly notes: readonly AuditNote[]
}

/** Returns the caller as audit rows name it. */
export function actorOf(caller: IssuerCaller | 'wallet'): AuditActor {
  if (typeof caller === 'string') return { by: caller, keyId: null, sessionId: null }
  if (isSession(caller)) return { by: 'session', keyId: caller.keyId, sessionId: caller.sessionId }
  return { by: caller.surface === 'partner' ? 'partner' : 'key', keyId: caller.id, sessionId: null }
}

/** Makes one note for each key. */
export function keyNotes(action: AuditAction, keys: readonly KeyRecord[]): AuditNote[] {
  return keys.map(({ id, label, scopes, policyIds }) => ({ action, target: id, label, scopes, policyIds }))
}

/** Makes a note about a session or an account. */
export function auditNote(action: AuditAction, target: string, policyIds: readonly string[] = []): AuditNote {
  return { action, target, label: null, scopes: null, policyIds }
}

/** Makes the function that builds audit rows, which are kept for a number of days. */
export function auditEntryBuilder(retentionDays: number) {
  return (accountId: string, by: AuditActor, note: AuditNote, at: EpochMs): AuditEntry => {
    const expiresAt = at + retentionDays * 86_400_000
    return { id: routeOf(accountId) + randomBase62(14), accountId, at, expiresAt, ...by, ...note }
  }
}
