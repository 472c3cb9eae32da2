import { allow, type Session, type Verdict } from '@gatewright/kernel'
import { ended, type Accounts, type Decision } from '../keys/account.ts'
import { actorOf, entryMaker, noteOn, notesOn } from '../audit.ts'
import { isRoot, isSession, sees, stale, standingOf, type Caller, type Standing } from '../keys/authority.ts'
import { deny, type IssuerDenial } from '../codes.ts'
import { isLive } from '../keys/key.ts'
import type { CheckedOptions } from '../options.ts'
import { keysMadeBy, reachesMaker } from '../keys/creators.ts'
import type { KeyRecord, SessionRecord } from '../storage/port.ts'

/** Most sessions that a listing answers. */
const MOST_LISTED = 1000
/** Sessions revoked per step when all of an account's end. */
const BATCH = 500

/** What `endSessionWithKeys` ended. */
export interface EndedWithKeys {
  /** The session and those minted from it, as far as they were live. */
  readonly sessions: number
  /** The keys that any of them made, and all below those. */
  readonly keys: number
}

/** The verbs about existing sessions. */
export interface SessionManager {
  listSessions(caller: Exclude<Caller, 'operator'>): Promise<Verdict<readonly SessionRecord[], IssuerDenial>>
  endSession(caller: Caller, sessionId: string): Promise<Verdict<number, IssuerDenial>>
  endSessionWithKeys(
    caller: Caller,
    sessionId: string,
    accountId?: string,
  ): Promise<Verdict<EndedWithKeys, IssuerDenial>>
  endAccountSessions(accountId: string): Promise<number>
  isCurrent(session: Session): Promise<boolean>
}

/** Makes the verbs about existing sessions. */
export function createSessionManager(options: CheckedOptions, accounts: Accounts): SessionManager {
  const { keys, sessions, clock } = options
  const entryOf = entryMaker(options.auditRetentionDays)
  const revoke = (session: SessionRecord, caller: Caller): Promise<number> => {
    const { sessionId, accountId, policyIds } = session
    const now = clock.now()
    const note = noteOn('session.end', sessionId, policyIds)
    return sessions.revoke(sessionId, now, entryOf(accountId, actorOf(caller), note, now))
  }

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
      const id = idOf(caller, sessionId)
      const session = await sessions.find(id)
      if (caller !== 'operator') {
        const visible = await visibleKeys(caller)
        if (!visible.ok) return visible
        const within = session?.accountId === caller.accountId
        if (!within || (visible.value && !visible.value.includes(session.keyId))) return unknown
      }
      return allow(session ? await revoke(session, caller) : 0)
    },
    async endSessionWithKeys(caller, sessionId, accountId) {
      const id = idOf(caller, sessionId)
      const session = await sessions.find(id)
      const account = caller === 'operator' ? (session?.accountId ?? accountId) : caller.accountId
      if (account === undefined) return unknown
      const refusal = (keys: readonly KeyRecord[], now: number): IssuerDenial | undefined => {
        if (caller === 'operator') return undefined
        const standing = standingOf(caller, keys, now)
        if (!standing) return stale
        return mayEnd(standing, id, session, keys) ? undefined : unknown
      }
      const asked = await accounts(
        account,
        (keys, now): Decision<undefined> => refusal(keys, now) ?? { ok: true, value: undefined },
      )
      if (!asked.ok) return asked
      // The session first, and the keys against a revision that is always raised: a key that the session is making
      // at this moment is either seen here, or its own commit is decided again and finds the session ended.
      const endedSessions = session ? await revoke(session, caller) : 0
      const revoked = await accounts(account, (keys, now): Decision<number> => {
        const denial = refusal(keys, now)
        if (denial) return denial
        const write = ended(keys, [...keysMadeBy(id, keys)], now)
        const notes = [noteOn('session.revokeKeys', id), ...notesOn('key.revoke', write.keys)]
        return { ok: true, value: write.keys.length, write: { ...write, by: actorOf(caller), notes } }
      })
      return revoked.ok ? allow({ sessions: endedSessions, keys: revoked.value }) : revoked
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

const unknown: IssuerDenial = deny('not_found', 'no such session')

const idOf = (caller: Caller, sessionId: string): string =>
  sessionId === 'current' && caller !== 'operator' && isSession(caller) ? caller.sessionId : sessionId

/** Whether the session's key is the caller's own or stands below it; a root reaches all of its account. */
function mayEnd(
  standing: Standing,
  id: string,
  session: SessionRecord | undefined,
  keys: readonly KeyRecord[],
): boolean {
  if (!session) return reachesMaker(standing, id, keys)
  if (session.accountId !== standing.key.accountId) return false
  return isRoot(standing.key) || keys.some(key => key.id === session.keyId && sees(standing, key))
}
