import { actorOf, auditNote, keyNotes } from '../audit.ts'
import type { RevocationCounts, SessionMethods } from './manage-sessions.ts'
import { endKeys, type UpdateAccount } from '../keys/update-account.ts'

/** Makes the method that ends every key and session of an account. */
export function makeRevokeAccount(
  updateAccount: UpdateAccount,
  { endAccountSessions }: Pick<SessionMethods, 'endAccountSessions'>,
): (accountId: string) => Promise<RevocationCounts> {
  return async accountId => {
    const revoked = await updateAccount(accountId, (all, now) => {
      const ids = all.map(key => key.id)
      const write = endKeys(all, ids, now)
      const notes = [auditNote('account.revoke', accountId), ...keyNotes('key.revoke', write.keys)]
      return { ok: true, value: write.keys.length, write: { ...write, by: actorOf('operator'), notes } }
    })
    return { keys: revoked.ok ? revoked.value : 0, sessions: await endAccountSessions(accountId) }
  }
}
