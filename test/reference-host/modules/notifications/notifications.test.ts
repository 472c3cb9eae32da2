import { randomUUID } from 'node:crypto'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { bearer, bootstrapUser, openTestHost, type HttpResponse, sessionOf } from '../../../harness/host.ts'

const clock = manualClock(Date.now())
const host = await openTestHost(t, { RATE_LIMITS: 'off' }, clock)

interface Notification {
  readonly id: string
  readonly kind: string
  readonly read: boolean
  readonly readAt: string | null
}
const newUser = async (): Promise<string> =>
  (await bootstrapUser(host.send, { sessionTtlSeconds: 86_400 }, clock.now())).token
const list = async (token: string, query = ''): Promise<HttpResponse> =>
  host.send(`/user/v1/notifications${query}`, { headers: bearer(token) })
const keyOf = async (token: string): Promise<string> => {
  const { body } = await host.send('/user/v1/identity', { headers: bearer(token) })
  return (body['identity'] as { keyId: string }).keyId
}
const shown = ({ body }: HttpResponse): Notification[] => body.data['notifications'] as Notification[]
const mark = (token: string, id: string, read: unknown): Promise<HttpResponse> =>
  host.send(`/user/v1/notifications/${id}`, { method: 'PATCH', body: { read }, headers: bearer(token) })
const write = (token: string, path: string, body: object): Promise<HttpResponse> =>
  host.send(path, { body, headers: { ...bearer(token), 'idempotency-key': randomUUID() } })

/** Pays subscriptions from the balance: each payment is a notification. */
async function pay(token: string, times: number): Promise<string[]> {
  await write(token, '/user/v1/deposits', { amountCents: 500 * times })
  const ids: string[] = []
  for (let n = 0; n < times; n += 1) {
    const bought = await write(token, '/user/v1/subscriptions/checkout', { plan: 'basic' })
    const { id } = bought.body.data['payin'] as { id: string }
    await write(token, '/user/v1/subscriptions/payin/confirm-balance', { payinId: id })
    ids.push(id)
  }
  return ids
}

t.test('reports that a pay-in was settled, in words of the product', async t => {
  const token = await newUser()
  t.match((await list(token)).body.data, { notifications: [], unreadCount: 0, nextCursor: null })
  const [id] = await pay(token, 1)
  const response = await list(token)
  t.match(response, { status: 200, body: { data: { unreadCount: 1, nextCursor: null } } })
  const [{ id: eventId, ...notification } = { id: '' }] = shown(response)
  t.match(eventId, /^evt_[0-9a-f]{32}$/)
  t.same(notification, {
    kind: 'payin.settled',
    title: 'Pay-in settled',
    text: 'A pay-in was paid. Amount: 5.00 USD.',
    subject: { kind: 'payin', id },
    keyId: await keyOf(token),
    keyLabel: null,
    read: false,
    readAt: null,
    createdAt: new Date(clock.now()).toISOString(),
  })
})

t.test('names the key that moved the money by its present label, also after a rotation', async t => {
  const token = await newUser()
  const created = await host.send('/user/v1/keys', {
    body: { label: 'agent-shopping' },
    headers: bearer(token),
  })
  const { userApiKey, userKeyId } = created.body as unknown as Record<string, string>
  await pay(await sessionOf(host.send, userApiKey as string), 1)
  const path = `/user/v1/keys/${userKeyId}`
  await host.send(`${path}/rotate`, { body: {}, headers: bearer(token) })
  const [notification] = shown(await list(token))
  t.match(notification, { keyId: userKeyId, keyLabel: 'agent-shopping' })
  const marked = await mark(token, notification?.id as string, true)
  t.match(marked.body.data, { notification: { keyId: userKeyId, keyLabel: 'agent-shopping' } })
})

t.test('reports that a pay-in expired, to its account only', async t => {
  const [user, other] = await Promise.all([
    bootstrapUser(host.send, {}, clock.now()),
    bootstrapUser(host.send, {}, clock.now()),
  ])
  await write(user.token, '/user/v1/subscriptions/payin', { amountCents: 1_234_500 })
  clock.advance(86_400_000)
  await host.chore('expire pay-ins')
  const notifications = async (key: string): Promise<HttpResponse> => {
    return list(await sessionOf(host.send, key))
  }
  const text = 'A pay-in was not paid in time. Amount: 12,345.00 USD.'
  t.match((await notifications(user.key)).body.data, {
    unreadCount: 1,
    notifications: [{ kind: 'payin.expired', text }],
  })
  t.same(shown(await notifications(other.key)), [])
})

t.test('pages newest first, with unread ones alone where asked, and counts all of them', async t => {
  const token = await newUser()
  const payins = await pay(token, 5)
  const all = shown(await list(token))
  t.equal(all.length, 5)
  for (const { id } of [all[1]!, all[3]!]) t.equal((await mark(token, id, true)).status, 200)
  const paged = async (query: string): Promise<string[]> => {
    const seen: string[] = []
    let cursor: unknown = ''
    while (cursor !== null) {
      const response: HttpResponse = await list(
        token,
        `?limit=2${query}${cursor === '' ? '' : `&cursor=${cursor as string}`}`,
      )
      t.match(response, { status: 200, body: { data: { unreadCount: 3 } } })
      seen.push(...shown(response).map(each => each.id))
      cursor = response.body.data['nextCursor']
    }
    return seen
  }
  const ids = all.map(({ id }) => id)
  t.same(await paged(''), ids)
  t.same(await paged('&unread=false'), ids)
  t.same(await paged('&unread=true'), [ids[0], ids[2], ids[4]])
  const subjects = all.map(each => (each as unknown as { subject: { id: string } }).subject.id)
  t.same(subjects, payins.toReversed())
  for (const unread of ['', '1', 'TRUE', 'yes'])
    t.match(await list(token, `?unread=${unread}`), { status: 400, body: { field: 'unread' } })
})

t.test('a mark is kept with its first time until it is taken back', async t => {
  const token = await newUser()
  await pay(token, 1)
  const [{ id } = { id: '' }] = shown(await list(token))
  const first = new Date(clock.now()).toISOString()
  const marked = async (read: boolean): Promise<unknown> =>
    (await mark(token, id, read)).body.data['notification']
  t.match(await marked(true), { id, read: true, readAt: first })
  clock.advance(1000)
  t.match(await marked(true), { read: true, readAt: first })
  t.match(await marked(false), { read: false, readAt: null })
  t.match(await marked(true), { read: true, readAt: new Date(clock.now()).toISOString() })
  for (const read of [undefined, 'true', 1, null])
    t.match(await mark(token, id, read), { status: 400, body: { field: 'read' } })
})

t.test('marks all notifications of the account as read', async t => {
  const [user, other] = [await newUser(), await newUser()]
  await pay(user, 3)
  await pay(other, 1)
  const [first] = shown(await list(user))
  await mark(user, first?.id as string, true)
  const markAll = (read: unknown) =>
    host.send('/user/v1/notifications', { method: 'PATCH', body: { read }, headers: bearer(user) })
  clock.advance(1000)
  t.match((await markAll(true)).body.data, { marked: 2, unreadCount: 0 })
  const readAt = shown(await list(user)).map(each => each.readAt)
  const later = new Date(clock.now()).toISOString()
  t.same(readAt, [new Date(clock.now() - 1000).toISOString(), later, later], 'what was read keeps its time')
  t.match((await markAll(true)).body.data, { marked: 0, unreadCount: 0 })
  t.match(await markAll(false), { status: 400, body: { field: 'read' } })
  t.equal((await list(other)).body.data['unreadCount'], 1)
})
