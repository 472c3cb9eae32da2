import { allow, type EpochMs } from '@gatewright/kernel'
import type { ApiKey, AuditEntry } from '@gatewright/session-issuer'
import type { ListPosition } from '@gatewright/session-issuer/internal'
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

/** Says what happened. `who` and `target`, a key, are in words; `who` begins the sentence. `id` is that of the target. */
type Sentence = (who: string, target: string, id: string) => string

/** The sentence of each action. */
const SENTENCES: Readonly<Record<AuditEntry['action'], Sentence>> = {
  'key.create': (who, target) => `${who} created ${target}.`,
  'key.change': (who, target) => `${who} changed the rights or the name of ${target}.`,
  'key.rotate': (who, target) => `${who} replaced ${target} by a new key.`,
  'key.revoke': (who, target) => `${who} revoked ${target}.`,
  'key.pause': (who, target) => `${who} paused ${target}.`,
  'key.resume': (who, target) => `${who} let ${target} work again.`,
  'key.retire': (_, target) => `The host ended ${target}, because there were too many.`,
  'session.create': who => `${who} started a session.`,
  'session.end': who => `${who} ended a session.`,
  'session.revokeKeys': who => `${who} revoked the keys that a session had created.`,
  'account.revoke': who => `${who} ended every key and session of the account.`,
  'account.freeze': who => `${who} froze the account: nothing leaves it.`,
  'account.unfreeze': who => `${who} let the account pay again.`,
  'approval.approve': (who, _, id) => `${who} approved the payment that waited as ${id}.`,
  'approval.deny': (who, _, id) => `${who} denied the payment that waited as ${id}.`,
}
const ACTIONS = Object.keys(SENTENCES) as AuditEntry['action'][]

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
    action: Type.Enum(ACTIONS, { description: 'What was done' }),
    text: text('Who did what, as a sentence'),
    target: text('The id of the key, session, account or approval that it was done to'),
    label: textOrNull('The label of a key after it'),
    policyIds: Type.Array(Type.String(), {
      maxItems: 16,
      description: 'The policies of the target after it',
    }),
  },
  component('AuditRow', 'A change of a key, a session or the account, or a decision about an approval'),
)
const List = Type.Object(
  { rows: Type.Array(Row), nextCursor },
  component('AuditList', 'A page of changes, newest first'),
)

/**
 * `GET /user/v1/audit`: who made, changed, paused, revoked, froze or approved what in the account. A root key and a console see all of it, any other key what
 * it and the keys below it did, and what was done to them.
 */
export function listAudit({ issuer }: Pick<HostServices, 'issuer'>): Operation {
  return operation({
    surface: 'user',
    credential: 'session',
    id: 'audit.list',
    title: 'List changes of keys and sessions',
    details:
      'Who made, changed, paused, revoked, froze or approved what, newest first. A key with a key above it sees only what it and the keys below it did, and what was done to them. With a filter a page can be short, or empty, before the last one.',
    method: 'GET',
    paths: ['/user/v1/audit'],
    scopes: ['keys.read'],
    query: Type.Object({
      ...pageParameters(100, 50),
      ...createdRange,
      keyId: keyIdFilter('Only what this key did, and what was done to it'),
      action: Type.Optional(
        Type.Array(Type.Enum(ACTIONS), {
          description: `Only these actions, with commas between them: ${ACTIONS.join(', ')}`,
          expected: `must be a comma list of ${ACTIONS.join(', ')}`,
        }),
      ),
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
            text: 'The key "laptop" created the key "agent-shopping".',
            target: key.userKeyId,
            label: 'agent-shopping',
            policyIds: [],
          },
        ],
        nextCursor: null,
      },
    },
    async handle({ caller: access, query: { limit, cursor, from, to, keyId, action } }) {
      const start = readPositionCursor(cursor)
      if (!start.ok) return start
      const range = rangeOf({ from, to })
      if (!range.ok) return range
      const caller = callerOf(access)
      const visible = await issuer.visibleKeys(caller)
      if (!visible.ok) return visible
      const keys = new Map(visible.value.map(found => [found.id, found]))
      const isRoot = keys.get(access.session.keyId)?.ancestry.length === 0
      const isVisible = (row: AuditEntry): boolean =>
        isRoot || keys.has(row.target) || (row.keyId !== null && keys.has(row.keyId))
      const isChosen = (row: AuditEntry): boolean =>
        (keyId === undefined || isOfKey(row, keyId)) && (!action || action.includes(row.action))
      const read = (most: number): ReturnType<typeof readRows> =>
        readRows(issuer, caller.accountId, { ...start.value, ...range.value, most })
      const seesAll = isRoot && keyId === undefined && !action
      const { rows, next } = seesAll
        ? await read(limit)
        : await searchPage<AuditEntry, ListPosition>({
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
    readonly after?: ListPosition
    readonly from?: EpochMs | undefined
    readonly to?: EpochMs | undefined
    readonly most: number
  },
): Promise<{
  readonly rows: readonly AuditEntry[]
  readonly next: ListPosition | undefined
}> {
  const start = after === undefined || after.at >= to ? { at: to } : after
  const found = await issuer.listAudit(accountId, most, start)
  const rows = found.filter(({ at }) => at >= from)
  const last = rows.at(-1)
  const isLast = found.length < most || rows.length < found.length || !last
  return { rows, next: isLast ? undefined : { at: last.at, id: last.id } }
}

const isOfKey = ({ keyId, target }: AuditEntry, id: string): boolean => keyId === id || target === id

function rowData(
  { id, at, by, keyId, sessionId, action, target, label, policyIds }: AuditEntry,
  keys: ReadonlyMap<string, ApiKey>,
): Type.Static<typeof Row> {
  const who = by === 'key' || by === 'session' ? capital(keyName(keyId ?? '', null, keys)) : ACTORS[by]
  return {
    id,
    at: isoOrNull(at) as string,
    by,
    keyId,
    sessionId,
    who,
    action,
    text: SENTENCES[action](who, keyName(target, label, keys), target),
    target,
    label,
    policyIds: [...policyIds],
  }
}

/** Names a key by the label that it had then, or by the one that it has. A key that was deleted is named by its id. */
function keyName(id: string, labelThen: string | null, keys: ReadonlyMap<string, ApiKey>): string {
  const found = keys.get(id)
  if (found?.console) return 'an account console'
  const label = labelThen ?? found?.label ?? null
  return label === null ? `the key ${id}` : `the key "${label}"`
}

const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1)
