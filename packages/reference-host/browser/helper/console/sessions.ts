import { short } from '../../shared/address.ts'
import type { Reply } from '../../shared/api.ts'
import { ask } from '../../shared/dialog.ts'
import { counted } from '../../shared/counted.ts'
import { button, el, fill, type Child } from '../../shared/dom.ts'
import { announce } from '../../shared/live.ts'
import { when } from '../../shared/time.ts'
import { keyName, readAllKeys } from './all-keys.ts'
import type { ConsoleContext } from './context.ts'
import { listRow } from './list-row.ts'
import { newRows } from './new-rows.ts'
import type { ConsolePage } from './page.ts'
import { addressOf } from './route.ts'
import { load, notDone, problemNote } from './states.ts'
import type { Key, Session } from './wire.ts'

/** The page of the account's live sessions, by the key that started them. */
export const sessionsPage: ConsolePage = {
  id: 'sessions',
  title: 'Sessions',
  icon: 'sessions',
  about: 'A program exchanges its key for a session, which works until it ends.',
  actions: context => [button('Refresh', context.refresh, 'small')],
  render(context) {
    const body = el('div', { class: 'card lines' })
    const reload = (): Promise<void> =>
      load<Found>(body, {
        what: 'your sessions',
        read: () => readSessions(context),
        show: found => render(context, found, reload),
      })
    void reload()
    return [body]
  },
}

/** A page of sessions, latest end first. */
interface Page {
  readonly sessions: readonly Session[]
  readonly nextCursor: string | null
}

/** The sessions that were read, and the keys of the account. */
interface Found {
  readonly sessions: readonly Session[]
  /** Whether there are more sessions than the page reads. */
  readonly isCut: boolean
  readonly keys: readonly Key[]
}

/** How many pages of 100 sessions are read at most. */
const MAX_PAGES = 20

async function readSessions(context: ConsoleContext): Promise<Reply<Found>> {
  const keys = readAllKeys(context)
  const sessions: Session[] = []
  let cursor: string | null = ''
  for (let read = 0; read < MAX_PAGES && cursor !== null; read++) {
    const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const page: Reply<Page> = await context.call<Page>(`/sessions?limit=100${after}`)
    if (!page.ok) return page
    sessions.push(...newRows(sessions, page.data.sessions, ({ sessionId }) => sessionId))
    cursor = page.data.nextCursor
  }
  const found = await keys
  return found.ok ? { ok: true, data: { sessions, isCut: cursor !== null, keys: found.data } } : found
}

/** The sessions of a key, latest end first. */
interface Group {
  readonly key: Key | undefined
  readonly sessions: readonly Session[]
}

function render(
  context: ConsoleContext,
  { sessions, isCut, keys }: Found,
  reload: () => Promise<void>,
): Child[] {
  const groups: Group[] = [...new Set(sessions.map(({ keyId }) => keyId))].map(keyId => ({
    key: keys.find(({ id }) => id === keyId),
    sessions: sessions.filter(each => each.keyId === keyId),
  }))
  const consoles = groups.filter(({ key }) => key?.console).flatMap(group => group.sessions)
  const programs = groups.filter(({ key }) => !key?.console)
  return [
    el(
      'ul',
      { class: 'rows' },
      consoleGroup(context, consoles, reload),
      ...programs.map(group => keyGroup(context, group, reload)),
    ),
    programs.length === 0 &&
      consoles.length === 1 &&
      el(
        'p',
        { class: 'muted' },
        'Only this page is signed in. Programs show up here when they start a session.',
      ),
    isCut && el('p', { class: 'muted' }, `Only the ${sessions.length} that end last are shown.`),
  ]
}

/** Makes the group of the consoles, this page first. */
function consoleGroup(
  context: ConsoleContext,
  sessions: readonly Session[],
  reload: () => Promise<void>,
): HTMLElement {
  const sorted = sessions.toSorted((a, b) => Number(b.current) - Number(a.current))
  return listRow({
    isGroup: true,
    name: ['Consoles', el('span', { class: 'badge' }, 'Opened by your wallet')],
    below: [sessionList(context, sorted, reload)],
  })
}

/** Makes the group of a key's sessions. Those of a key with several are folded. */
function keyGroup(
  context: ConsoleContext,
  { key, sessions }: Group,
  reload: () => Promise<void>,
): HTMLElement {
  const [{ keyId } = { keyId: '' }] = sessions
  const name = key ? keyName(key) : keyId
  const problemBox = el('div')
  const started = Math.max(...sessions.map(({ createdAt }) => Date.parse(createdAt)))
  const list = sessionList(context, sessions, reload)
  const isFolded = sessions.length > 1
  return listRow({
    isGroup: true,
    name: [
      el('a', { href: addressOf('keys', { row: keyId }) }, name),
      el('span', { class: 'badge' }, counted(sessions.length, 'session')),
    ],
    below: [
      el('p', { class: 'muted small' }, 'Latest started ', when(started)),
      problemBox,
      isFolded ? el('details', {}, el('summary', { class: 'small' }, 'Show the sessions'), list) : list,
    ],
    end:
      isFolded &&
      key !== undefined &&
      el(
        'div',
        { class: 'row-actions' },
        button('End all', () => endAll(context, key, sessions.length, problemBox, reload), 'danger small'),
      ),
  })
}

const sessionList = (
  context: ConsoleContext,
  sessions: readonly Session[],
  reload: () => Promise<void>,
): HTMLElement =>
  el('ul', { class: 'rows' }, ...sessions.map(session => sessionRow(context, session, reload)))

function sessionRow(context: ConsoleContext, session: Session, reload: () => Promise<void>): HTMLElement {
  const { sessionId, label, current, createdAt, expiresAt, scopes } = session
  const problemBox = el('div')
  const name = label === null || label === '' ? ['Session ', short(sessionId)] : [label]
  return listRow({
    name: [
      el('span', { class: 'small' }, ...name),
      current && el('span', { class: 'badge ok' }, 'This page'),
    ],
    below: [
      el(
        'p',
        { class: 'muted small' },
        'Started ',
        when(createdAt),
        ' · Ends ',
        when(expiresAt),
        ` · ${counted(scopes.length, 'scope')}`,
      ),
      problemBox,
    ],
    end:
      !current &&
      el(
        'div',
        { class: 'row-actions' },
        button('End', () => endSession(context, session, problemBox, reload), 'small'),
      ),
  })
}

/** Asks, and ends every session of a key. The key works on. */
async function endAll(
  context: ConsoleContext,
  key: Key,
  count: number,
  problemBox: HTMLElement,
  reload: () => Promise<void>,
): Promise<void> {
  const name = keyName(key)
  const yes = await ask({
    title: `End all ${count} sessions of ${name}?`,
    body: [
      el(
        'p',
        {},
        'Its programs are refused at once. With the key they can start new sessions: revoke the key to stop them.',
      ),
    ],
    confirm: 'End all sessions',
    danger: true,
  })
  if (!yes) return undefined
  const send = async (): Promise<void> => {
    // Any change of its scopes ends the sessions of a key. These are the ones that it has, so its rights stay.
    const { scopes } = key
    const reply = await context.call(`/keys/${encodeURIComponent(key.id)}`, {
      method: 'PATCH',
      body: { scopes },
    })
    const unsure = 'The sessions may not have ended. Those that are listed after a refresh go on.'
    if (!reply.ok) return fill(problemBox, problemNote(unsure, reply.problem, send))
    announce(`All sessions of ${name} have ended.`)
    return reload()
  }
  await send()
}

async function endSession(
  context: ConsoleContext,
  { sessionId }: Session,
  problemBox: HTMLElement,
  reload: () => Promise<void>,
): Promise<void> {
  const keysToo = el('input', { type: 'checkbox', id: 'keys-too' })
  const yes = await ask({
    title: `End session ${sessionId.slice(0, 6)}…?`,
    body: [
      el(
        'p',
        {},
        'Its program is refused at once. With its key it can start another one: revoke the key to stop it.',
      ),
      el(
        'div',
        { class: 'choice' },
        keysToo,
        el('label', { for: 'keys-too' }, 'Also revoke the keys that this session made.'),
      ),
    ],
    confirm: 'End session',
    danger: true,
  })
  if (!yes) return undefined
  await sendEnd(context, sessionId, keysToo.checked, problemBox, reload)
}

/** Ends a session, with or without its keys. If the session ended but a key did not, the same request again ends the rest. */
async function sendEnd(
  context: ConsoleContext,
  sessionId: string,
  keysToo: boolean,
  problemBox: HTMLElement,
  reload: () => Promise<void>,
): Promise<void> {
  const query = keysToo ? '?keys=revoke' : ''
  const what = keysToo ? 'session with its keys' : 'session'
  const retry = (): unknown => sendEnd(context, sessionId, keysToo, problemBox, reload)
  const reply = await context.call(`/sessions/${sessionId}${query}`, { method: 'DELETE' })
  if (!reply.ok)
    return fill(problemBox, problemNote(notDone(what, 'ended', reply.problem), reply.problem, retry))
  announce('The session has ended.')
  return reload()
}
