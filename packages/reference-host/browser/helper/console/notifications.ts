import { button, el, fill, type Child } from '../../shared/dom.ts'
import { announce } from '../../shared/live.ts'
import { when } from '../../shared/time.ts'
import type { ConsoleContext } from './context.ts'
import type { ConsolePage } from './page.ts'
import { empty, load, problemNote } from './states.ts'
import type { Notification } from './wire.ts'

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
      load<Page>(body, {
        what: 'your notifications',
        read: () => context.call('/notifications?limit=50'),
        show: page => render(context, page, reload),
      })
    void reload()
    return [body]
  },
}

function render(context: ConsoleContext, page: Page, reload: () => Promise<void>): Child[] {
  if (page.notifications.length === 0)
    return [
      empty('Nothing has happened yet.', 'Activity from payments, cards and identity checks appears here.'),
    ]
  const count = el('p', { class: 'muted', 'aria-live': 'polite' })
  let unread = page.unreadCount
  const countUnread = (change: number): void => {
    unread += change
    count.textContent = unread === 0 ? 'All read.' : `${unread} unread.`
  }
  countUnread(0)
  const list = el('ul', { class: 'rows' })
  const problemBox = el('div')
  const add = ({ notifications }: Page): void =>
    list.append(...notifications.map(each => row(context, each, problemBox, countUnread)))
  add(page)
  const all = button('Mark all as read', () => markAll(context, problemBox, reload), 'small')
  const bar = el('div', { class: 'section-head' }, count, page.unreadCount > 0 && all)
  return [bar, problemBox, list, moreButton(context, page, problemBox, add)]
}

function row(
  context: ConsoleContext,
  { id, title, text, read, createdAt }: Notification,
  problemBox: HTMLElement,
  countUnread: (change: number) => void,
): HTMLElement {
  const dot = el('span', { class: 'badge' }, 'New')
  const mark = button(
    'Mark as read',
    async () => {
      const reply = await context.call(`/notifications/${id}`, { method: 'PATCH', body: { read: true } })
      if (!reply.ok) return fill(problemBox, problemNote('The notification was not marked.', reply.problem))
      for (const gone of [mark, dot]) gone.remove()
      item.classList.remove('unread')
      item.focus()
      countUnread(-1)
      return undefined
    },
    'small',
  )
  mark.setAttribute('aria-label', `Mark as read: ${title}`)
  const item = el(
    'li',
    { class: read ? 'row' : 'row unread', tabindex: -1 },
    el(
      'div',
      { class: 'row-main' },
      el('p', { class: 'row-name' }, title, !read && dot),
      el('p', {}, text),
      el('p', { class: 'muted small' }, when(createdAt)),
    ),
    !read && el('div', { class: 'row-actions' }, mark),
  )
  return item
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
