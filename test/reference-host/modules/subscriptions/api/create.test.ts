import { randomUUID } from 'node:crypto'
import t from 'tap'
import {
  bearer,
  bootstrapUser,
  openTestHost,
  type HttpResponse,
  type WalletUser,
  sessionOf,
} from '../../../../harness/host.ts'

const PATH = '/user/v1/subscriptions/payin'
const host = await openTestHost(t)
const post = (user: WalletUser, body: unknown, key?: string, path = PATH): Promise<HttpResponse> =>
  host.send(path, {
    body,
    headers: { ...bearer(user.token), ...(key === undefined ? {} : { 'idempotency-key': key }) },
  })
const idOf = (response: HttpResponse): string => (response.body.data['payin'] as { id: string }).id

t.test('creates an open pay-in of the requested amount', async t => {
  const user = await bootstrapUser(host.send)
  const { status, body } = await post(user, { amountCents: 2500, anything: { else: true } }, randomUUID())
  t.equal(status, 200)
  t.match(body, { ok: true, errors: [], summary: String })
  const payin = body.data['payin'] as Record<string, string>
  t.match(payin, {
    id: /^payin_/,
    status: 'awaiting_payment',
    subscriptionId: null,
    amountCents: 2500,
    currency: 'USD',
    method: 'onchain',
  })
  t.notOk('payTo' in payin, 'no receiver is configured')
  t.equal(Date.parse(payin['expiresAt'] as string) - Date.parse(payin['createdAt'] as string), 86_400_000)
})

t.test(
  'responds to a repeated key with the stored response, through the legacy path and a new session too',
  async t => {
    const user = await bootstrapUser(host.send)
    const key = randomUUID()
    const first = await post(user, { amountCents: 100 }, key)
    t.equal(first.headers.get('idempotency-replayed'), null)
    const keptHours =
      (Date.parse(first.headers.get('idempotency-expires') as string) - Date.now()) / 3_600_000
    t.ok(keptHours > 23.9 && keptHours <= 24, 'the client learns how long the response is kept')
    const renewed = { ...user, token: await sessionOf(host.send, user.key) }
    for (const [as, path, spelt] of [
      [user, PATH, key],
      [user, '/consumer/v1/subscriptions/payin', key],
      [renewed, PATH, `"${key}"`],
    ] as const) {
      const again = await post(as, { amountCents: 100 }, spelt, path)
      t.equal(again.status, 200)
      t.same(again.body, first.body)
      t.equal(again.headers.get('idempotency-replayed'), 'true')
    }
  },
)

t.test('creates one pay-in for 30 simultaneous requests with one key', async t => {
  const user = await bootstrapUser(host.send)
  const key = randomUUID()
  const responses = await Promise.all(Array.from({ length: 30 }, () => post(user, { amountCents: 100 }, key)))
  t.same(new Set(responses.map(({ status }) => status)), new Set([200]))
  t.equal(new Set(responses.map(idOf)).size, 1)
  t.equal(responses.filter(({ headers }) => headers.get('idempotency-replayed') === 'true').length, 29)
})

t.test('names what is wrong with the request, and accepts a corrected one under the same key', async t => {
  const user = await bootstrapUser(host.send)
  const key = randomUUID()
  for (const [body, field] of [
    [{}, 'amountCents'],
    [{ amountCents: 0 }, 'amountCents'],
    [{ amountCents: 100_000_001 }, 'amountCents'],
    [{ amountCents: 1.5 }, 'amountCents'],
    [{ amountCents: '100' }, 'amountCents'],
    [{ amountCents: 100, currency: 'EUR' }, 'currency'],
    [{ amountCents: 100, method: 'cash' }, 'method'],
    [{ plan: 'gold' }, 'plan'],
  ] as const) {
    t.match(await post(user, body, key), { status: 400, body: { error: 'invalid_request', field } })
  }
  t.match((await post(user, {}, key)).body['message'], /subscriptionId, plan or amountCents/)
  t.equal((await post(user, { subscriptionId: 'sub_1' }, randomUUID())).status, 404)
  t.equal((await post(user, { amountCents: 100_000_000 }, key)).status, 200)
})

t.test('reports no failure for any of these requests', async t => t.same(host.failures, []))

t.test(
  'checks a replay against the per-operation limits of the requesting session, also for waiting requests',
  async t => {
    const user = await bootstrapUser(host.send, { policy: { dailySpendCapCents: 15 } })
    const session = async (policy: object): Promise<WalletUser> => {
      return { ...user, token: await sessionOf(host.send, user.key, { policy }) }
    }
    const capped = await session({ maxAuthAmountCents: 10 })
    const listed = await session({
      limits: [{ operations: ['subscriptions.payin'], window: 'operation', maxCents: 10 }],
    })
    const roomy = await session({ maxAuthAmountCents: 11 })
    const key = randomUUID()
    const responses = await Promise.all(
      [user, capped, user, listed, roomy, capped].map(as => post(as, { amountCents: 11 }, key)),
    )
    for (const as of [capped, listed]) responses.push(await post(as, { amountCents: 11 }, key))
    t.same(
      responses.map(({ status }) => status),
      [200, 403, 200, 403, 200, 403, 403, 403],
    )
    t.match(responses.at(-2)?.body, { error: 'policy_blocked', rule: 'maxAuthAmountCents', remaining: 10 })
    t.match(responses.at(-1)?.body, { error: 'policy_blocked', rule: 'limits', window: 'operation' })
    t.equal(responses.at(-1)?.headers.get('idempotency-replayed'), null)
    const again = await post(user, { amountCents: 11 }, key)
    t.equal(again.headers.get('idempotency-replayed'), 'true', 'counters do not change: 11 of 15 are used')
  },
)
