import { allow, type Session, type Verdict } from '@gatewright/kernel'
import { endKeys, type UpdateAccount, type Decision } from '../keys/update-account.ts'
import { actorOf, auditEntryBuilder, auditNote, keyNotes } from '../audit.ts'
import {
  isRoot,
  isSession,
  canList,
  staleCredential,
  findActiveCaller,
  type IssuerCaller,
  type ActiveCaller,
} from '../keys/authority.ts'
import { deny, type IssuerDenial } from '../codes.ts'
import { isLive } from '../key.ts'
import type { CheckedOptions } from '../options.ts'
import { keysCreatedBy, canReachCreator } from '../keys/creators.ts'
import type { ListRequest } from '../list-request.ts'
import type { KeyRecord, SessionRecord } from '../storage/port.ts'
import { listSessions, visibleKeys, type SessionPage } from './list-sessions.ts'

/** Sessions revoked per step when all sessions of an account end. */
const BATCH = 500

/** How many sessions and keys a method ended. */
export interface RevocationCounts {
  /** Sessions that were live until now. */
  readonly sessions: number
  /** Keys that were live until now. */
  readonly keys: number
}

/** What `endSessionWithKeys` ended. */
export interface SessionWithKeysEnded extends RevocationCounts {
  readonly accountId: string
  /** The keys that the session created or rotated and the keys that these created, also those that had ended before. */
  readonly keyIds: readonly string[]
}

/** The methods of an issuer that concern existing sessions. */
export interface SessionMethods {
  listSessions(
    caller: Exclude<IssuerCaller, 'operator'>,
    request?: ListRequest,
  ): Promise<Verdict<SessionPage, IssuerDenial>>
  endSession(caller: IssuerCaller, sessionId: string): Promise<Verdict<number, IssuerDenial>>
  endSessionWithKeys(
    caller: IssuerCaller,
    sessionId: string,
    accountId?: string,
  ): Promise<Verdict<SessionWithKeysEnded, IssuerDenial>>
  endAccountSessions(accountId: string): Promise<number>
  isCurrent(session: Session): Promise<boolean>
}

/** Makes the methods that concern existing sessions. */
export function makeSessionMethods(options: CheckedOptions, updateAccount: UpdateAccount): SessionMethods {
  const { keys, sessions, clock } = options
  const buildAuditEntry = auditEntryBuilder(options.auditRetentionDays)
  const revoke = (session: SessionRecord, caller: IssuerCaller): Promise<number> => {
    const { sessionId, accountId, policyIds } = session
    const now = clock.now()
    const note = auditNote('session.end', sessionId, policyIds)
    return sessions.revoke(sessionId, now, buildAuditEntry(accountId, actorOf(caller), note, now))
  }

  /**
   * Ends the console whose session has ended. If that fails, the console's key expires when its session would have: nobody has
   * its text.
   */
  const endConsoleOf = async (session: SessionRecord, caller: IssuerCaller): Promise<void> => {
    if (session.ancestry.length > 0 || !(await keys.find(session.keyId))?.console) return
    await updateAccount(session.accountId, (all, now): Decision<undefined> => {
      const write = endKeys(all, consoleOf(session, all), now)
      if (write.keys.length === 0) return { ok: true, value: undefined }
      const notes = keyNotes('key.revoke', write.keys)
      return { ok: true, value: undefined, write: { ...write, by: actorOf(caller), notes } }
    })
  }

  return {
    listSessions: (caller, request = {}) => listSessions(options, updateAccount, caller, request),
    async endSession(caller, sessionId) {
      const id = idOf(caller, sessionId)
      const session = await sessions.find(id)
      if (caller !== 'operator') {
        const visible = await visibleKeys(updateAccount, caller)
        if (!visible.ok) return visible
        const { all, keys: seen } = visible.value
        const within = session?.accountId === caller.accountId
        if (!within || !(all || seen.some(key => key.id === session.keyId))) return sessionNotFound
      }
      if (!session) return allow(0)
      const ended = await revoke(session, caller)
      await endConsoleOf(session, caller)
      return allow(ended)
    },
    async endSessionWithKeys(caller, sessionId, accountId) {
      const id = idOf(caller, sessionId)
      const session = await sessions.find(id)
      const account = caller === 'operator' ? (session?.accountId ?? accountId) : caller.accountId
      if (account === undefined) return sessionNotFound
      const findDenial = (keys: readonly KeyRecord[], now: number): IssuerDenial | undefined => {
        if (caller === 'operator') return undefined
        const active = findActiveCaller(caller, keys, now)
        if (!active) return staleCredential
        return mayEnd(active, id, session, keys) ? undefined : sessionNotFound
      }
      const checked = await updateAccount(
        account,
        (keys, now): Decision<undefined> => findDenial(keys, now) ?? { ok: true, value: undefined },
      )
      if (!checked.ok) return checked
      // The session ends first; then the keys are committed against a revision that every write raises. A key that the session
      // creates at this moment is either found here, or its own commit fails, is repeated and finds the session ended.
      const endedSessions = session ? await revoke(session, caller) : 0
      return updateAccount(account, (keys, now): Decision<SessionWithKeysEnded> => {
        const denial = findDenial(keys, now)
        if (denial) return denial
        const console = session ? consoleOf(session, keys) : []
        const keyIds = [...keysCreatedBy(id, keys)]
        const write = endKeys(keys, [...keyIds, ...console], now)
        const notes = [auditNote('session.revokeKeys', id), ...keyNotes('key.revoke', write.keys)]
        const value = { accountId: account, sessions: endedSessions, keys: write.keys.length, keyIds }
        return { ok: true, value, write: { ...write, by: actorOf(caller), notes } }
      })
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

/** Returns the key of the console whose first session this is, if it is one. */
const consoleOf = ({ keyId, ancestry }: SessionRecord, keys: readonly KeyRecord[]): string[] =>
  ancestry.length > 0 ? [] : keys.filter(key => key.id === keyId && key.console).map(key => key.id)

const sessionNotFound: IssuerDenial = deny('not_found', 'no such session')

const idOf = (caller: IssuerCaller, sessionId: string): string =>
  sessionId === 'current' && caller !== 'operator' && isSession(caller) ? caller.sessionId : sessionId

/** Whether the session's key is the caller's own or below it; a root reaches all keys of its account. */
function mayEnd(
  active: ActiveCaller,
  id: string,
  session: SessionRecord | undefined,
  keys: readonly KeyRecord[],
): boolean {
  if (!session) return canReachCreator(active, id, keys)
  if (session.accountId !== active.key.accountId) return false
  return isRoot(active.key) || keys.some(key => key.id === session.keyId && canList(active, key))
}
