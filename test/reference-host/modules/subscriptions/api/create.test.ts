import { randomUUID } from 'node:crypto'
import t from 'tap'
import {
  bearer,
  bootstrapUser,
  startTestHost,
  type HttpResponse,
  type WalletUser,
} from '../../../../harness/host.ts'

const PATH = '/user/v1/subscriptions/payin'
const host = await startTestHost()
t.teardown(() => host.close())
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
    const minted = await host.send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': user.key } })
    const renewed = { ...user, token: minted.body['sessionToken'] as string }
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

t.test('keeps the keys of two users apart', async t => {
  const key = randomUUID()
  const [one, two] = await Promise.all([bootstrapUser(host.send), bootstrapUser(host.send)])
  t.not(idOf(await post(one, { amountCents: 100 }, key)), idOf(await post(two, { amountCents: 100 }, key)))
})

t.test('denies a missing, short or reused key', async t => {
  const user = await bootstrapUser(host.send)
  t.match(await post(user, { amountCents: 100 }), {
    status: 400,
    body: { error: 'idempotency_key_required' },
  })
  t.match(await post(user, { amountCents: 100 }, '1234567'), {
    status: 400,
    body: { error: 'idempotency_key_invalid' },
  })
  t.equal((await post(user, { amountCents: 100 }, '12345678')).status, 200)
  t.match(await post(user, { amountCents: 101 }, '12345678'), {
    status: 400,
    body: { error: 'idempotency_key_reused' },
  })
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

t.test('denies a session without subscriptions.write, and tokens that are missing or garbage', async t => {
  const user = await bootstrapUser(host.send, { sessionScopes: ['subscriptions.read'] })
  const narrow = await post(user, { amountCents: 100 }, randomUUID())
  t.match(narrow, { status: 403, body: { error: 'insufficient_scope', message: /subscriptions\.write/ } })

  const missing = await host.send(PATH, { body: {} })
  t.match(missing, { status: 401, body: { error: 'unauthorized' } })
  t.notMatch(missing.headers.get('www-authenticate'), /error=/)
  for (const token of ['garbage', 'a.b.c', `${user.token}x`, user.token.slice(0, -2), user.key]) {
    const denied = await post({ ...user, token }, { amountCents: 100 }, randomUUID())
    t.match(denied, { status: 401, body: { error: 'unauthorized' } })
    t.match(denied.headers.get('www-authenticate'), /^Bearer .*error="invalid_token"/)
  }
})

t.test('applies the policies of key and session, and authorises a replay again', async t => {
  const capped = await bootstrapUser(host.send, { policy: { maxAuthAmountCents: 500 } })
  t.equal((await post(capped, { amountCents: 500 }, randomUUID())).status, 200)
  const key = randomUUID()
  const over = await post(capped, { amountCents: 501 }, key)
  t.match(over, { status: 403, body: { error: 'policy_blocked', rule: 'maxAuthAmountCents' } })
  t.match(await post(capped, { amountCents: 501 }, key), { status: 403 }, 'a denial is not stored')

  const tighter = await bootstrapUser(host.send, {
    policy: { maxAuthAmountCents: 500 },
    sessionPolicy: { maxAuthAmountCents: 200 },
  })
  t.equal((await post(tighter, { amountCents: 201 }, randomUUID())).status, 403)

  const until = Date.now() + 60_000
  for (const policy of [
    { denyOperations: ['subscriptions.*'] },
    { allowOperations: ['cards.*'] },
    { notBefore: new Date(until).toISOString() },
    { notAfter: new Date(Date.now() - 1000).toISOString() },
  ]) {
    const user = await bootstrapUser(host.send, { policy })
    const blocked = await post(user, { amountCents: 1 }, randomUUID())
    t.match(blocked, { status: 403, body: { error: 'policy_blocked', rule: Object.keys(policy)[0] } })
  }
})
t.test('reports no failure for any of these requests', async t => t.same(host.failures, []))

t.test(
  'checks a replay against the per-operation limits of the requesting session, also for waiting requests',
  async t => {
    const user = await bootstrapUser(host.send, { policy: { dailySpendCapCents: 15 } })
    const session = async (policy: object): Promise<WalletUser> => {
      const made = await host.send('/user/v1/sessions', {
        body: { policy },
        headers: { 'x-user-key': user.key },
      })
      return { ...user, token: made.body['sessionToken'] as string }
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
