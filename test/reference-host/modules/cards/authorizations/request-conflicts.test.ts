// A card network repeats the id of an authorization with other data: the first decision stays, and a person looks at the conflict.
import { manualClock } from '@gatewright/kernel/testing'
import t, { type Test } from 'tap'
import { cardUser, networkEvent, networkRequest, type CardUser } from '../../../harness/card-payments.ts'
import { bootstrapUser, startTestHost, type HttpResponse } from '../../../../harness/host.ts'
import { WEBHOOK_SECRET } from '../../../harness/kyc.ts'

const clock = manualClock(Date.now())
const host = await startTestHost(
  { RATE_LIMITS: 'off', PROVIDER_WEBHOOK_SECRETS: `sandbox=${WEBHOOK_SECRET}` },
  clock,
)
t.teardown(() => host.close())
const event = (type: string, data: object): Promise<HttpResponse> =>
  networkEvent(host.send, { type: `authorization.${type}`, data }, { now: clock.now() })

async function funded(): Promise<CardUser> {
  const user = cardUser(
    host.send,
    (await bootstrapUser(host.send, { sessionTtlSeconds: 86_400 }, clock.now())).token,
  )
  await user.fund(10_000)
  return user
}
async function metric(name: RegExp): Promise<number> {
  await host.chore('count rows with attention')
  // Rendered metrics are reused for a second.
  clock.advance(1000)
  return Number(name.exec(await (await fetch(`${host.url}/metrics`)).text())?.[1] ?? 0)
}
const conflicts = (): Promise<number> =>
  metric(/provider_events_total\{type="authorization.request",outcome="conflict"\} (\d+)/)
const attention = (): Promise<number> => metric(/rows_with_attention\{kind="authorization"\} (\d+)/)
/** Takes what was logged since, so that it does not count as a failure of the host. */
const logged = (): string => host.failures.splice(0).map(String).join('\n')

type Status = 'authorized' | 'declined' | 'cleared' | 'reversed'
/** Makes an authorization of 600 cents in a status, and returns what asked for it. */
async function madeIn(status: Status, cardId: string): Promise<ReturnType<typeof networkRequest>> {
  const data = networkRequest(cardId, { amountCents: status === 'declined' ? 100_000 : 600 })
  await event('request', data)
  if (status === 'reversed') await event('reversed', { id: data.id })
  if (status === 'cleared') await event('cleared', { id: data.id, amountCents: 600 })
  return data
}

const OTHERS: Readonly<Record<string, (user: CardUser) => Promise<object>>> = {
  'a higher amount': async () => ({ amountCents: 601 }),
  'a lower amount': async () => ({ amountCents: 1 }),
  'another currency': async () => ({ currency: 'EUR' }),
  'another card of the account': async user => ({ cardId: await user.card() }),
  'a card of another account': async () => ({ cardId: await (await funded()).card() }),
  'an unknown card': async () => ({ cardId: 'card_unknown' }),
}

for (const status of ['authorized', 'declined', 'cleared', 'reversed'] as const)
  for (const [title, other] of Object.entries(OTHERS))
    t.test(`declines ${title} under the id of a payment that is ${status}`, async t => {
      const user = await funded()
      const cardId = await user.card()
      const data = await madeIn(status, cardId)
      const [balance, counted, marked] = [await user.balance(), await conflicts(), await attention()]
      const repeated = { ...data, ...(await other(user)) }
      const decision = { approved: false, authorizationId: /^auth_/, declineReason: 'conflict' }
      for (const _ of [1, 2])
        t.match(await event('request', repeated), {
          status: 200,
          body: { data: { applied: false, decision } },
        })
      t.equal(await user.balance(), balance, 'nothing moves')
      t.equal(await conflicts(), counted + 2, 'counted')
      t.equal(await attention(), marked + 1, 'marked for the operator')
      t.match(logged(), /repeated the id of auth_\w+ with (?:amountCents|currency|cardId) /)
      await expectHistory(t, user, cardId, status)
    })

/** The first decision stays, with one entry of the conflict, however often it was repeated. */
async function expectHistory(t: Test, user: CardUser, cardId: string, status: Status): Promise<void> {
  const { body } = await user.read(`/cards/${cardId}/authorizations`)
  const [row, ...more] = body.data['authorizations'] as { status: string; history: { cause: string }[] }[]
  t.same(more, [])
  t.equal(row?.status, status)
  t.equal(row?.history.filter(({ cause }) => cause === 'conflict').length, 1)
}

t.test('an equal repeat is no conflict, whatever it says of the merchant', async t => {
  const user = await funded()
  const data = await madeIn('authorized', await user.card())
  const before = await conflicts()
  const repeated = { ...data, merchant: { name: 'CORNER SHOP 12', mcc: '5411', country: 'US' } }
  t.match(await event('request', repeated), { body: { data: { decision: { approved: true } } } })
  t.equal(await conflicts(), before)
})

t.test(
  'a merchant whose name has a NUL or half of a surrogate pair is paid, and an id with one is refused',
  async t => {
    const user = await funded()
    const cardId = await user.card()
    const data = networkRequest(cardId, { amountCents: 1 })
    const name = 'CORNER SHOP\0\0\ud800 12'
    const paid = await event('request', {
      ...data,
      merchant: { name, city: '\0', mcc: '5411', country: 'US' },
    })
    t.match(paid, { status: 200, body: { data: { decision: { approved: true } } } })
    const { body } = await user.read(`/cards/${cardId}/authorizations`)
    t.match(body.data, { authorizations: [{ merchant: { name: 'CORNER SHOP 12', city: null } }] })
    t.match(await event('request', { ...data, id: `${data.id}\0` }), {
      status: 400,
      body: { field: 'data.id' },
    })
  },
)

t.test('keeps the first 20 different conflicts of a payment', async t => {
  const user = await funded()
  const cardId = await user.card()
  const data = await madeIn('authorized', cardId)
  for (let amountCents = 1; amountCents <= 21; amountCents += 1)
    await event('request', { ...data, amountCents })
  const { body } = await user.read(`/cards/${cardId}/authorizations`)
  const [{ history }] = body.data['authorizations'] as [{ history: { cause: string; amountCents: number }[] }]
  t.same(
    history.filter(({ cause }) => cause === 'conflict').map(({ amountCents }) => amountCents),
    Array.from({ length: 20 }, (_, n) => n + 1),
  )
  t.equal(logged().split('\n').length, 21, 'each is logged')
})

t.test('of 20 requests at once with one id and two cards, those with one card are approved', async t => {
  const user = await funded()
  const data = networkRequest(await user.card(), { amountCents: 100 })
  const other = { ...data, cardId: await user.card() }
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, n) => event('request', n % 2 === 0 ? data : other)),
  )
  const reasons = responses.map(
    ({ body }) => (body.data['decision'] as { declineReason: string | null }).declineReason,
  )
  const first = reasons.filter((_, n) => n % 2 === 0)
  const second = reasons.filter((_, n) => n % 2 === 1)
  const [approved, denied] = first[0] === null ? [first, second] : [second, first]
  t.same(approved, Array(10).fill(null))
  t.same(denied, Array(10).fill('conflict'))
  t.equal(await user.balance(), 9900)
  logged()
})
