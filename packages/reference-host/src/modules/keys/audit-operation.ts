import { allow, type EpochMs } from '@gatewright/kernel'
import type { ApiKey, AuditEntry } from '@gatewright/session-issuer'
import type { AuditPosition } from '@gatewright/session-issuer/internal'
import * as Type from 'typebox/type'
import { type HostServices, type Operation, operation } from '@gatewright/host'
import {
  callerOf,
  counted,
  createdRange,
  isoOrNull,
  positionCursor,
  rangeOf,
  readPositionCursor,
  searchPage,
} from '@gatewright/host/internal'
import { component, instant, nextCursor, pageParameters, text, textOrNull } from '@gatewright/host/schemas'
import { keyIdFilter } from '../transactions/filters.ts'
import { AT, key, session } from '../examples.ts'

/** What each action is called. */
const ACTIONS: Readonly<Record<AuditEntry['action'], string>> = {
  'key.create': 'Created a key',
  'key.change': 'Changed a key',
  'key.rotate': 'Rotated a key',
  'key.revoke': 'Revoked a key',
  'key.pause': 'Paused a key',
  'key.resume': 'Resumed a key',
  'key.retire': 'Retired a key, because there were too many',
  'session.create': 'Created a session',
  'session.end': 'Ended a session',
  'session.revokeKeys': 'Revoked the keys that a session created',
  'account.revoke': 'Ended every key and session of the account',
}

/** What an actor without a key is called. */
const ACTORS = { wallet: 'The wallet', operator: 'The operator', partner: 'A partner' } as const

const Row = Type.Object(
  {
    id: text('The id of the row'),
    at: instant('When'),
    by: Type.Enum(['wallet', 'operator', 'partner', 'key', 'session'], {
      description: 'Which kind of credential did it',
    }),
    keyId: textOrNull('The key that did it, or the key of the session that did'),
    sessionId: textOrNull('The session that did it'),
    who: text('Who did it, in words'),
    action: Type.Enum(Object.keys(ACTIONS), { description: 'What was done' }),
    what: text('What was done, in words'),
    target: text('The id of the key, session or account that it was done to'),
    label: textOrNull('The label of a key after it'),
    policyIds: Type.Array(Type.String(), {
      maxItems: 16,
      description: 'The policies of the target after it',
    }),
  },
  component('AuditRow', 'A change of a key or a session'),
)
const List = Type.Object(
  { rows: Type.Array(Row), nextCursor },
  component('AuditList', 'A page of changes, newest first'),
)

/**
 * `GET /user/v1/audit`: who made, changed, paused, revoked what in the account. A root key and a console see all of it, any other key what
 * it and the keys below it did, and what was done to them.
 */
export function listAudit({ issuer }: Pick<HostServices, 'issuer'>): Operation {
  return operation({
    surface: 'user',
    credential: 'session',
    id: 'audit.list',
    title: 'List changes of keys and sessions',
    details:
      'Who made, changed, paused or revoked what, newest first. A key with a key above it sees only what it and the keys below it did, and what was done to them. With a filter a page can be short, or empty, before the last one.',
    method: 'GET',
    paths: ['/user/v1/audit'],
    scopes: ['keys.read'],
    query: Type.Object({
      ...pageParameters(100, 50),
      ...createdRange,
      keyId: keyIdFilter('Only what this key did, and what was done to it'),
    }),
    response: List,
    example: {
      response: {
        rows: [
          {
            id: 'Q7r8S9t0U1v2W3x4',
            at: AT,
            by: 'session',
            keyId: 'Q7r8S9t0U1v2W3x4',
            sessionId: session.sessionId,
            who: 'The key "laptop"',
            action: 'key.create',
            what: 'Created a key',
            target: key.userKeyId,
            label: 'agent-shopping',
            policyIds: [],
          },
        ],
        nextCursor: null,
      },
    },
    async handle({ caller: access, query: { limit, cursor, from, to, keyId } }) {
      const start = readPositionCursor(cursor)
      if (!start.ok) return start
      const range = rangeOf({ from, to })
      if (!range.ok) return range
      const caller = callerOf(access)
      const visible = await issuer.visibleKeys(caller)
      if (!visible.ok) return visible
      const keys = new Map(visible.value.map(found => [found.id, found]))
      const isRoot = keys.get(access.session.keyId)?.ancestry.length === 0
      const isOfKey = (id: string) => (row: AuditEntry) => row.keyId === id || row.target === id
      const isVisible = (row: AuditEntry): boolean =>
        isRoot || keys.has(row.target) || (row.keyId !== null && keys.has(row.keyId))
      const isChosen = keyId === undefined ? () => true : isOfKey(keyId)
      const read = (most: number): ReturnType<typeof readRows> =>
        readRows(issuer, caller.accountId, { ...start.value, ...range.value, most })
      const seesAll = isRoot && keyId === undefined
      const { rows, next } = seesAll
        ? await read(limit)
        : await searchPage<AuditEntry, { at: EpochMs; id: string }>({
            limit,
            read,
            placeOf: ({ at, id }) => ({ at, id }),
            matches: row => isVisible(row) && isChosen(row),
          })
      return allow({
        data: { rows: rows.map(row => rowData(row, keys)), nextCursor: next ? positionCursor(next) : null },
        summary: `${counted(rows.length, 'changes')}.`,
      })
    },
  })
}

/** Reads the next rows of an account within a range of time, and the place after them; undefined if there are no more. */
async function readRows(
  issuer: HostServices['issuer'],
  accountId: string,
  {
    after,
    from = 0,
    to = Number.MAX_SAFE_INTEGER,
    most,
  }: {
    readonly after?: Required<AuditPosition>
    readonly from?: EpochMs | undefined
    readonly to?: EpochMs | undefined
    readonly most: number
  },
): Promise<{
  readonly rows: readonly AuditEntry[]
  readonly next: { readonly at: EpochMs; readonly id: string } | undefined
}> {
  const start = after === undefined || after.at >= to ? { at: to } : after
  const found = await issuer.listAudit(accountId, most, start)
  const rows = found.filter(({ at }) => at >= from)
  const last = rows.at(-1)
  const isLast = found.length < most || rows.length < found.length || !last
  return { rows, next: isLast ? undefined : { at: last.at, id: last.id } }
}

function rowData(
  { id, at, by, keyId, sessionId, action, target, label, policyIds }: AuditEntry,
  keys: ReadonlyMap<string, ApiKey>,
): Type.Static<typeof Row> {
  return {
    id,
    at: isoOrNull(at) as string,
    by,
    keyId,
    sessionId,
    who: by === 'key' || by === 'session' ? keyName(keyId, keys) : ACTORS[by],
    action,
    what: ACTIONS[action],
    target,
    label,
    policyIds: [...policyIds],
  }
}

function keyName(keyId: string | null, keys: ReadonlyMap<string, ApiKey>): string {
  const found = keyId === null ? undefined : keys.get(keyId)
  if (found?.console) return 'An account console'
  return found?.label ? `The key "${found.label}"` : `The key ${keyId}`
}
