import { allow, type Session, type Verdict } from '@gatewright/kernel'
import type { Accounts, Decision } from './account.ts'
import { isRoot, isSession, sees, stale, standingOf, type Caller } from './authority.ts'
import { deny, type IssuerDenial } from './codes.ts'
import { isLive } from './key.ts'
import type { CheckedOptions } from './options.ts'
import type { SessionRecord } from './storage/port.ts'

/** Most sessions that a listing answers. */
const MOST_LISTED = 1000
/** Sessions revoked per step when all of an account's end. */
const BATCH = 500

/** The verbs about existing sessions. */
export interface SessionManager {
  listSessions(caller: Exclude<Caller, 'operator'>): Promise<Verdict<readonly SessionRecord[], IssuerDenial>>
  endSession(caller: Caller, sessionId: string): Promise<Verdict<number, IssuerDenial>>
  endAccountSessions(accountId: string): Promise<number>
  isCurrent(session: Session): Promise<boolean>
}

/** Makes the verbs about existing sessions. */
export function createSessionManager(options: CheckedOptions, accounts: Accounts): SessionManager {
  const { keys, sessions, clock } = options

  /** The keys whose sessions a caller may see; undefined for all of its account. */
  const visibleKeys = (
    caller: Exclude<Caller, 'operator'>,
  ): Promise<Verdict<readonly string[] | undefined, IssuerDenial>> =>
    accounts(caller.accountId, (all, now): Decision<readonly string[] | undefined> => {
      const standing = standingOf(caller, all, now)
      if (!standing) return stale
      if (isRoot(standing.key)) return { ok: true, value: undefined }
      return { ok: true, value: all.filter(key => sees(standing, key)).map(key => key.id) }
    })

  return {
    async listSessions(caller) {
      const visible = await visibleKeys(caller)
      if (!visible.ok) return visible
      const all = await sessions.list(caller.accountId, MOST_LISTED, clock.now())
      return allow(visible.value ? all.filter(one => visible.value?.includes(one.keyId)) : all)
    },
    async endSession(caller, sessionId) {
      const id =
        sessionId === 'current' && caller !== 'operator' && isSession(caller) ? caller.sessionId : sessionId
      if (caller !== 'operator') {
        const visible = await visibleKeys(caller)
        if (!visible.ok) return visible
        const session = await sessions.find(id)
        const within = session?.accountId === caller.accountId
        if (!within || (visible.value && !visible.value.includes(session.keyId))) {
          return deny('not_found', 'no such session')
        }
      }
      return allow(await sessions.revoke(id, clock.now()))
    },
    async endAccountSessions(accountId) {
      let total = 0
      for (let ended = -1; ended !== 0; total += ended) {
        ended = await sessions.revokeAccount(accountId, BATCH, clock.now())
      }
      return total
    },
    async isCurrent({ sessionId, keyId, keyVersion }) {
      const [key, session] = await Promise.all([keys.find(keyId), sessions.find(sessionId)])
      return key?.version === keyVersion && isLive(key, clock.now()) && session?.revokedAt === null
    },
  }
}
