import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import type { SqlQueries } from '@gatewright/kernel/sql'
import {
  type HostServices,
  type Operation,
  events,
  ledgerWrite,
  operation,
  transactions,
  type RecordedEvent,
} from '@gatewright/host'
import { cutPage, readCursor, sourceName, counted } from '@gatewright/host/internal'
import {
  textOrNull,
  instantOrNull,
  component,
  instant,
  nextCursor,
  text,
  pageParameters,
} from '@gatewright/host/schemas'
import type { KeyStorage } from '@gatewright/session-issuer'
import { deny } from '../../product/denials.ts'
import { revealedBy } from '../cards/revealed-by.ts'
import * as examples from '../examples.ts'
import { limitAlert } from './limit-alert.ts'
import { kindOf, textOf } from './texts.ts'

const Notification = Type.Object(
  {
    id: text('Names the notification'),
    kind: text('What happened, for programs: such as `card.locked`'),
    title: text('A heading for people'),
    text: text('A sentence for people. Plain text'),
    subject: Type.Object(
      { kind: text('What kind of thing it is about'), id: text('Names that thing') },
      component('NotificationSubject', 'What a notification is about'),
    ),
    keyId: textOrNull(
      'The API key that moved the money, revealed the card or has the limit; null for anything else',
    ),
    keyLabel: textOrNull('The label that this key has now; null if it has none or is no longer kept'),
    read: Type.Boolean({ description: 'Whether it was marked as read' }),
    readAt: instantOrNull('When it was first marked as read'),
    createdAt: instant('When it happened'),
  },
  component('Notification', 'Something that happened to what the account has'),
)
/** How many notifications one request marks and counts at most, so that it stays short however many an account has. */
const MOST = 1000
const countUpToMost = (which: string): Type.TInteger =>
  Type.Integer({ minimum: 0, maximum: MOST, description: `${which}; ${MOST} stands for ${MOST} or more` })
const List = Type.Object(
  {
    notifications: Type.Array(Notification),
    unreadCount: countUpToMost('How many are unread, on all pages'),
    nextCursor,
  },
  component('NotificationList', 'A page of notifications, newest first'),
)
const ResponseData = Type.Object(
  { notification: Notification },
  component('NotificationResponse', 'A notification'),
)
const Body = Type.Object(
  { read: Type.Boolean({ description: '`false` makes it unread again' }) },
  component('MarkNotificationRequest', 'Whether it was read'),
)
const example = {
  id: 'evt_0b9fd7c1f0c44e1e8a1ab8d5c4a1f6d2',
  kind: 'payin.settled',
  title: 'Pay-in settled',
  text: 'A pay-in was paid. Amount: 25.00 USD.',
  keyId: examples.key.userKeyId,
  keyLabel: 'agent-shopping',
  read: false,
  readAt: null,
  createdAt: examples.AT,
  subject: { kind: 'payin', id: 'payin_4f0e4e0f3c7d4d5f9a2b1c3d4e5f6a7b' },
}
const common = { surface: 'user', credential: 'session' } as const

interface NotificationServices extends Pick<HostServices, 'db' | 'clock'> {
  readonly backend: { readonly issuer: { readonly keys: Pick<KeyStorage, 'load'> } }
}

/**
 * `GET /user/v1/notifications`, `PATCH /user/v1/notifications/{id}` and `PATCH /user/v1/notifications`: lists notifications of the
 * account, marks one as read or unread, and marks all as read.
 */
export function notificationOperations(services: NotificationServices): Operation[] {
  return [listNotifications(services), markNotification(services), markAllRead(services)]
}

function listNotifications({ db, backend }: NotificationServices): Operation {
  return operation({
    ...common,
    id: 'notifications.list',
    title: 'List what happened, newest first',
    method: 'GET',
    paths: ['/user/v1/notifications'],
    scopes: ['notifications.read'],
    query: Type.Object({
      ...pageParameters(),
      unread: Type.Boolean({
        default: false,
        description: '`true`: only those that were not read',
        expected: 'must be true or false',
      }),
    }),
    response: List,
    example: { response: { notifications: [example], unreadCount: 1, nextCursor: null } },
    async handle({ caller: { session }, query: { limit, cursor, unread } }) {
      const after = readCursor(cursor)
      if (!after.ok) return after
      const read = unread ? events.unread : events.page
      const found = await read(db, session.accountId, { after: after.value, limit: limit + 1 })
      const { items, nextCursor } = cutPage(found, limit)
      const unreadCount = await events.unreadCount(db, session.accountId, MOST)
      const keys = await keysOf(db, session.accountId, items)
      const labels = keys.size === 0 ? NO_LABELS : await labelsOf(backend, session.accountId)
      const notifications = items.map(event => notificationData(event, keys, labels))
      return allow({
        data: { notifications, unreadCount, nextCursor },
        summary: `${counted(items.length, 'notifications')}, ${unreadCount}${unreadCount === MOST ? ' or more' : ''} unread in total.`,
      })
    },
  })
}

function markNotification({ clock, backend }: NotificationServices): Operation {
  return ledgerWrite({
    ...common,
    id: 'notifications.mark',
    title: 'Mark a notification as read or unread',
    method: 'PATCH',
    paths: ['/user/v1/notifications/{notificationId}'],
    idempotency: 'none',
    spends: false,
    scopes: ['notifications.write'],
    body: Body,
    response: ResponseData,
    example: {
      body: { read: true },
      response: { notification: { ...example, read: true, readAt: examples.LATER } },
    },
    denies: [404],
    prepare: async ({ caller: { session } }) => allow(await labelsOf(backend, session.accountId)),
    async write({ caller: { session }, params, body: { read } }, { tx, prepared: labels }) {
      const id = params['notificationId'] as string
      const event = await events.mark(tx, session.accountId, id, read ? clock.now() : null)
      if (!event) return deny('not_found', 'nothing has this id')
      const keys = await keysOf(tx, session.accountId, [event])
      return allow({
        data: { notification: notificationData(event, keys, labels) },
        summary: read ? 'Marked as read.' : 'Marked as unread.',
      })
    },
  })
}

const AllReadBody = Type.Object(
  { read: Type.Literal(true, { description: 'Only `true`: all cannot become unread again' }) },
  component('MarkAllNotificationsRequest', 'That all were read'),
)
const AllReadResponse = Type.Object(
  {
    marked: Type.Integer({ minimum: 0, description: 'How many were marked' }),
    unreadCount: countUpToMost('How many are unread now'),
  },
  component('AllReadResponse', 'How many notifications were marked as read'),
)

function markAllRead({ clock }: Pick<HostServices, 'clock'>): Operation {
  return ledgerWrite({
    ...common,
    id: 'notifications.markAll',
    title: 'Mark all notifications as read',
    details: `The oldest ${MOST} at a time.`,
    method: 'PATCH',
    paths: ['/user/v1/notifications'],
    idempotency: 'none',
    spends: false,
    scopes: ['notifications.write'],
    body: AllReadBody,
    response: AllReadResponse,
    example: { body: { read: true }, response: { marked: 3, unreadCount: 0 } },
    async write({ caller: { session } }, { tx }) {
      const marked = await events.markOldest(tx, session.accountId, MOST, clock.now())
      const unreadCount = await events.unreadCount(tx, session.accountId, MOST)
      return allow({ data: { marked, unreadCount }, summary: `${marked} marked as read.` })
    },
  })
}

/** Finds the keys that caused some events, by the ids of the events. */
async function keysOf(
  db: SqlQueries,
  accountId: string,
  found: readonly RecordedEvent[],
): Promise<ReadonlyMap<string, string>> {
  const sources = await transactions.keysOf(
    db,
    accountId,
    found.map(({ subject }) => subject),
  )
  const keys = found.flatMap(event => {
    const keyId = revealedBy(event) ?? limitAlert(event)?.keyId ?? sources.get(sourceName(event.subject))
    return keyId === undefined ? [] : [[event.id, keyId] as const]
  })
  return new Map(keys)
}

const NO_LABELS: ReadonlyMap<string, string | null> = new Map()

/** Reads the labels of the keys of an account, by the ids of the keys and of their lineages. */
async function labelsOf(
  { issuer }: NotificationServices['backend'],
  accountId: string,
): Promise<ReadonlyMap<string, string | null>> {
  const { keys } = await issuer.keys.load(accountId)
  const newestLast = keys.toSorted((a, b) => a.createdAt - b.createdAt)
  return new Map([
    ...newestLast.map(({ lineageId, label }) => [lineageId, label] as const),
    ...newestLast.map(({ id, label }) => [id, label] as const),
  ])
}

function notificationData(
  event: RecordedEvent,
  keys: ReadonlyMap<string, string>,
  labels: ReadonlyMap<string, string | null>,
): Record<string, unknown> {
  const { id, subject, at, readAt } = event
  const keyId = keys.get(id) ?? null
  return {
    id,
    kind: kindOf(event),
    ...textOf(event),
    subject,
    keyId,
    keyLabel: keyId === null ? null : (labels.get(keyId) ?? null),
    read: readAt !== null,
    readAt: readAt === null ? null : new Date(readAt).toISOString(),
    createdAt: new Date(at).toISOString(),
  }
}
