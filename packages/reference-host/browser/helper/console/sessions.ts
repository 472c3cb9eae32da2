import { short } from '../../shared/address.ts'
import type { Reply } from '../../shared/api.ts'
import { ask } from '../../shared/dialog.ts'
import { counted } from '../../shared/counted.ts'
import { button, el, fill, type Child } from '../../shared/dom.ts'
import { announce } from '../../shared/live.ts'
import { when } from '../../shared/time.ts'
import { readAllKeys } from './all-keys.ts'
import type { ConsoleContext } from './context.ts'
import type { ConsolePage } from './page.ts'
import { load, notDone, problemNote } from './states.ts'
import type { Key, Session } from './wire.ts'

/** The page of the account's live sessions: those of programs, and of consoles such as this one. */
export const sessionsPage: ConsolePage = {
  id: 'sessions',
  title: 'Sessions',
  icon: 'sessions',
  about: 'A program shows its key once and works with a session for a while.',
  actions: context => [button('Refresh', context.refresh, 'small')],
  render(context) {
    const body = el('div', { class: 'card lines' })
    const reload = (): Promise<void> =>
      load<Both>(body, {
        what: 'your sessions',
        read: () => readBoth(context),
        show: both => render(context, both, reload),
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

/** The first page of sessions, and their keys. */
interface Both {
  readonly page: Page
  readonly keys: readonly Key[]
}

async function readBoth(context: ConsoleContext): Promise<Reply<Both>> {
  const [page, keys] = await Promise.all([context.call<Page>('/sessions'), readAllKeys(context)])
  if (!page.ok) return page
  return keys.ok ? { ok: true, data: { page: page.data, keys: keys.data } } : keys
}

function render(context: ConsoleContext, { page, keys }: Both, reload: () => Promise<void>): Child[] {
  const list = el('ul', { class: 'rows' })
  const add = ({ sessions }: Page): void => {
    // The session of this console comes first, then the one that ends last.
    const sorted = sessions.toSorted((a, b) => Number(b.current) - Number(a.current))
    list.append(...sorted.map(session => row(context, session, keys, reload)))
  }
  add(page)
  const isOnly = page.sessions.length === 1 && page.nextCursor === null
  const note = 'Only this page is signed in. Programs show up here when they start a session.'
  const problemBox = el('div')
  return [
    list,
    isOnly && el('p', { class: 'muted' }, note),
    problemBox,
    moreButton(context, page, problemBox, add),
  ]
}

function moreButton(
  { call }: ConsoleContext,
  { nextCursor }: Page,
  problemBox: HTMLElement,
  add: (page: Page) => void,
): Child {
  if (nextCursor === null) return undefined
  let cursor = nextCursor
  const more = button('Show more', async () => {
    const reply = await call<Page>(`/sessions?cursor=${encodeURIComponent(cursor)}`)
    if (!reply.ok) return fill(problemBox, problemNote('More sessions cannot be shown.', reply.problem))
    fill(problemBox)
    add(reply.data)
    if (reply.data.nextCursor === null) more.remove()
    else cursor = reply.data.nextCursor
    return undefined
  })
  return more
}

function row(
  context: ConsoleContext,
  session: Session,
  keys: readonly Key[],
  reload: () => Promise<void>,
): HTMLElement {
  const key = keys.find(({ id }) => id === session.keyId)
  const problemBox = el('div')
  const from: Child[] = key?.console
    ? ['Console, opened by your wallet']
    : ['Key ', short(key?.keyPrefix ?? session.keyId)]
  return el(
    'li',
    { class: 'row' },
    el(
      'div',
      { class: 'row-main' },
      el(
        'p',
        { class: 'row-name' },
        ...from,
        session.current && el('span', { class: 'badge ok' }, 'This page'),
        session.label !== null && session.label !== '' && el('span', { class: 'badge' }, session.label),
      ),
      el(
        'p',
        { class: 'muted small' },
        'Session ',
        short(session.sessionId),
        ' · Started ',
        when(session.createdAt),
        ' · Ends ',
        when(session.expiresAt),
        ` · ${counted(session.scopes.length, 'scope')}`,
      ),
      problemBox,
    ),
    !session.current &&
      el(
        'div',
        { class: 'row-actions' },
        button('End', () => endSession(context, session, problemBox, reload), 'danger small'),
      ),
  )
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
