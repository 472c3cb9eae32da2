import type { Reply } from '../../shared/api.ts'
import { button, el, fill, type Child } from '../../shared/dom.ts'
import { announce } from '../../shared/live.ts'
import { when } from '../../shared/time.ts'
import { readAllKeys } from './all-keys.ts'
import type { ConsoleContext } from './context.ts'
import { listRow } from './list-row.ts'
import { newRows } from './new-rows.ts'
import type { ConsolePage } from './page.ts'
import { addressOf } from './route.ts'
import { empty, load, problemNote } from './states.ts'
import type { Key, Notification } from './wire.ts'

interface Page {
  readonly notifications: readonly Notification[]
  readonly unreadCount: number
  readonly nextCursor: string | null
}

/** The page of the account's notifications, newest first. */
export const notificationsPage: ConsolePage = {
  id: 'notifications',
  title: 'Notifications',
  icon: 'notifications',
  actions: context => [button('Refresh', context.refresh, 'small')],
  render(context) {
    const body = el('div', { class: 'card lines' })
    const reload = (): Promise<void> =>
      load<PageWithKeys>(body, {
        what: 'your notifications',
        read: () => readPage(context),
        show: page => render(context, page, reload),
      })
    void reload()
    return [body]
  },
}

/** A page of notifications with the keys of the account, of which the notifications name some. */
interface PageWithKeys extends Page {
  readonly keys: readonly Key[]
}

async function readPage(context: ConsoleContext): Promise<Reply<PageWithKeys>> {
  const [page, keys] = await Promise.all([
    context.call<Page>('/notifications?limit=50'),
    readAllKeys(context),
  ])
  if (!page.ok) return page
  return keys.ok ? { ok: true, data: { ...page.data, keys: keys.data } } : keys
}

function render(context: ConsoleContext, page: PageWithKeys, reload: () => Promise<void>): Child[] {
  if (page.notifications.length === 0)
    return [
      empty('Nothing has happened yet.', 'Activity from payments, cards and identity checks appears here.'),
    ]
  const count = el('p', { class: 'muted', 'aria-live': 'polite' })
  let unread = page.unreadCount
  // The host counts no more.
  const more = unread === 1000 ? ' or more' : ''
  const countUnread = (change: number): void => {
    unread += change
    count.textContent = unread === 0 ? 'All read.' : `${unread}${more} unread.`
  }
  countUnread(0)
  const list = el('ul', { class: 'rows' })
  const problemBox = el('div')
  const shown: Notification[] = []
  const add = ({ notifications }: Page): void => {
    const added = newRows(shown, notifications, ({ id }) => id)
    shown.push(...added)
    list.append(...added.map(each => row(context, each, page.keys, countUnread)))
  }
  add(page)
  const all = button('Mark all as read', () => markAll(context, problemBox, reload), 'small')
  const types = el('input', { type: 'checkbox', id: 'event-types' })
  types.addEventListener('change', () => list.classList.toggle('with-types', types.checked))
  const bar = el(
    'div',
    { class: 'section-head' },
    count,
    el('span', { class: 'choice small' }, types, el('label', { for: types.id }, 'Show types and ids')),
    page.unreadCount > 0 && all,
  )
  return [bar, problemBox, list, moreButton(context, page, problemBox, add)]
}

/** Where each kind of thing is shown. One without an entry has no page. */
const PLACES: Readonly<Record<string, (id: string) => string>> = {
  approval: () => addressOf('approvals'),
  authorization: id => addressOf('transactions', { query: { q: id } }),
  bill: id => addressOf('transactions', { query: { q: id } }),
  card: id => addressOf('cards', { row: id }),
  deposit: id => addressOf('transactions', { query: { q: id } }),
  kyc: () => addressOf('overview'),
  payin: id => addressOf('payins', { row: id }),
  payment: id => addressOf('transactions', { query: { q: id } }),
  subscription: () => addressOf('payins'),
  withdrawal: id => addressOf('transactions', { query: { q: id } }),
}

/** Makes a row. Opening the thing that it is about marks it as read. */
function row(
  context: ConsoleContext,
  { id, kind, title, text, subject, keyId, keyLabel, read, createdAt }: Notification,
  keys: readonly Key[],
  countUnread: (change: number) => void,
): HTMLElement {
  const place = PLACES[subject.kind]?.(subject.id)
  const dot = el('span', { class: 'dot' }, el('span', { class: 'unseen' }, 'Unread'))
  const name = place === undefined ? el('span', {}, title) : el('a', { href: place }, title)
  const item = listRow({
    name: [!read && dot, name],
    below: [
      el('p', { class: 'small' }, text),
      keyId !== null && el('p', { class: 'muted small' }, 'By key ', keyLink(keyId, keyLabel, keys)),
      el('p', { class: 'mono small event-type' }, `${kind} · ${id} · ${subject.id}`),
    ],
    end: el('p', { class: 'muted small' }, when(createdAt)),
  })
  item.classList.toggle('unread', !read)
  const open = async (): Promise<void> => {
    name.removeEventListener('click', open)
    const reply = await context.call(`/notifications/${id}`, { method: 'PATCH', body: { read: true } })
    // It stays unread if the host did not mark it: what it is about is shown all the same.
    if (!reply.ok) return
    dot.remove()
    item.classList.remove('unread')
    countUnread(-1)
  }
  if (!read && place !== undefined) name.addEventListener('click', open)
  return item
}

/** Names the key with an id, or the newest key of the lineage that this id names, by its label or the end of its id. */
function keyLink(keyId: string, label: string | null, keys: readonly Key[]): Child {
  const key = keys.find(({ id }) => id === keyId) ?? keys.find(({ lineageId }) => lineageId === keyId)
  const name = label ?? `…${keyId.slice(-6)}`
  return key ? el('a', { href: addressOf('keys', { row: key.id }) }, name) : name
}

function moreButton(
  { call }: ConsoleContext,
  { nextCursor }: Page,
  problemBox: HTMLElement,
  add: (page: Page) => void,
): Child {
  if (nextCursor === null) return undefined
  let cursor: string | null = nextCursor
  const more = button('Show older', async () => {
    const reply = await call<Page>(`/notifications?limit=50&cursor=${encodeURIComponent(cursor ?? '')}`)
    if (!reply.ok) return fill(problemBox, problemNote('Older notifications cannot be shown.', reply.problem))
    add(reply.data)
    cursor = reply.data.nextCursor
    if (cursor === null) more.remove()
    return undefined
  })
  return more
}

/** Marks every unread notification as read. The host marks many at a time. */
async function markAll(
  { call }: ConsoleContext,
  problemBox: HTMLElement,
  reload: () => Promise<void>,
): Promise<void> {
  for (let left = 1; left > 0; ) {
    const marked = await call<{ unreadCount: number }>('/notifications', {
      method: 'PATCH',
      body: { read: true },
    })
    if (!marked.ok)
      return fill(problemBox, problemNote('Some notifications were not marked.', marked.problem))
    left = marked.data.unreadCount
  }
  announce('All notifications are read.')
  return reload()
}
