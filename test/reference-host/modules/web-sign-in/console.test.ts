import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import {
  bearer,
  newWallet,
  openTestHost,
  type HttpResponse,
  type RequestOptions,
} from '../../../harness/host.ts'
import * as internals from '../../../harness/internals.ts'
import { moneyUser } from '../../harness/money.ts'
import { webToken } from '../../harness/web-sign-in.ts'

const clock = manualClock(Date.now())
const host = await openTestHost(t, { RATE_LIMITS: 'off' }, clock)
const { send } = host
type Wallet = ReturnType<typeof newWallet>
const as = (token: string, path: string, options: RequestOptions = {}): Promise<HttpResponse> =>
  send(path, { ...options, headers: { ...bearer(token), ...options.headers } })
const exchange = (token: string): Promise<HttpResponse> => as(token, '/auth/console', { method: 'POST' })

/** Signs in and opens a console. */
async function openConsole(wallet: Wallet = newWallet()): Promise<string> {
  const { status, body } = await exchange(await webToken(send, wallet))
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`)
  return body['sessionToken'] as string
}

/** Signs in and makes a root key with a session. */
async function rootKey(wallet: Wallet, body: object = {}): Promise<{ id: string; session: string }> {
  const made = await as(await webToken(send, wallet), '/identity/user-api-keys', { body })
  const headers = { 'x-user-key': made.body['userApiKey'] as string }
  const session = await send('/user/v1/sessions', { body: { ttlSeconds: 86_400 }, headers })
  return { id: made.body['userKeyId'] as string, session: session.body['sessionToken'] as string }
}
/** Waits until a token is denied, at the latest when the guard has read the feed. */
async function ends(token: string): Promise<void> {
  while ((await as(token, '/user/v1/users')).status !== 401)
    await new Promise(resolve => setTimeout(resolve, 20))
}
const keysOf = async (token: string): Promise<Record<string, unknown>[]> =>
  (await as(token, '/user/v1/keys')).body['keys'] as Record<string, unknown>[]

const MAY_WRITE = [
  'cards',
  'keys',
  'approvals',
  'sessions',
  'notifications',
  'kyc',
  'agreements',
  'onboarding',
].map(tag => `${tag}.write`)

t.test(
  'a web token gives a console session of an hour: it reads, and writes nothing that is money',
  async t => {
    const wallet = newWallet()
    const { status, body } = await exchange(await webToken(send, wallet))
    t.equal(status, 200)
    t.same(Object.keys(body.data), ['sessionToken', 'sessionId', 'expiresAt', 'scopes'])
    t.equal(Date.parse(body['expiresAt'] as string), Math.floor(clock.now() / 1000) * 1000 + 3600_000)
    const readable = internals.userScopes.names.filter(name => name.endsWith('.read'))
    const scopes = [...readable.filter(name => name !== 'cards.secrets.read'), ...MAY_WRITE]
    t.same((body['scopes'] as string[]).toSorted(), scopes.toSorted())
    const token = body['sessionToken'] as string
    const identity = (await as(token, '/user/v1/identity')).body['identity']
    t.match(identity, {
      walletAddress: wallet.address.toLowerCase(),
      policies: [{ policy: { maxAuthAmountCents: 0 } }],
    })
  },
)

t.test('a web token makes one key or one console, of 20 tries at once', async t => {
  const wallet = newWallet()
  for (const order of [0, 1]) {
    const token = await webToken(send, wallet)
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        n % 2 === order ? exchange(token) : as(token, '/identity/user-api-keys', { body: {} }),
      ),
    )
    t.equal(responses.filter(({ status }) => status === 200).length, 1)
    const denied = responses.filter(({ status }) => status !== 200)
    for (const { status, body } of denied) t.same([status, body], [401, denied[0]?.body])
    t.match(await exchange(token), { status: 401, body: { error: 'unauthorized' } })
  }
  const console = await openConsole(wallet)
  t.equal((await keysOf(console)).length, 3, 'two tokens made one each')
})

t.test('only a web token opens a console', async t => {
  const session = await openConsole()
  for (const headers of [{}, bearer(session), bearer('sandbox-1.AAAA'), bearer('x')])
    t.match(await send('/auth/console', { method: 'POST', headers }), { status: 401 })
  const late = await webToken(send)
  clock.advance(600_000)
  t.match(await exchange(late), { status: 401, body: { error: 'unauthorized' } })
})

t.test('no operation of a console moves money, and each that writes is known here', async t => {
  const wallet = newWallet()
  const { session } = await rootKey(wallet)
  const money = moneyUser(send, { token: session })
  await money.fund(100_000)
  const card = (await money.write('/cards', {})).body.data['card'] as { id: string }
  const token = await openConsole(wallet)
  const { body } = await send('/openapi.json')
  const paths = body['paths'] as Record<
    string,
    Record<string, { operationId: string; deprecated?: boolean; security: Record<string, string[]>[] }>
  >
  const allowed: string[] = []
  for (const [path, item] of Object.entries(paths))
    for (const [method, { operationId, deprecated, security }] of Object.entries(item)) {
      const guarded = security.some(each => 'UserSessionBearer' in each)
      if (method === 'get' || deprecated || !guarded) continue
      const response = await as(token, path.replaceAll(/\{\w+\}/g, card.id), {
        method: method.toUpperCase(),
        headers: { 'idempotency-key': 'of-a-console' },
        ...(method === 'delete' ? {} : { body: { amountCents: 100, cardId: card.id, plan: 'basic' } }),
      })
      if (response.status === 403 && response.body['error'] === 'insufficient_scope') continue
      if (response.status === 403 && response.body['rule'] === 'denyOperations') continue
      allowed.push(operationId)
    }
  // Each has a scope of the list above, or needs none but `encryption.read` and `kyc.write`; none of them spends.
  t.same(allowed.toSorted(), [
    'access_evaluate',
    'agreements_accept',
    'approvals_approve',
    'approvals_deny',
    'cards_cancel',
    'cards_change',
    'crypto_decrypt',
    'keys_change',
    'keys_change_3',
    'keys_create',
    'keys_create_3',
    'keys_pause',
    'keys_resume',
    'keys_revoke',
    'keys_revoke_3',
    'keys_rotate',
    'keys_rotate_3',
    'kyc_simulate',
    'kyc_submit',
    'notifications_mark',
    'notifications_markAll',
    'onboarding_skip',
    'sessions_create',
    'sessions_end',
  ])
  t.equal(await money.balance(), 100_000)
})

t.test('a console reveals no card, though it lists them', async t => {
  const wallet = newWallet()
  const { session } = await rootKey(wallet)
  const card = (await moneyUser(send, { token: session }).write('/cards', {})).body.data['card'] as {
    id: string
  }
  const token = await openConsole(wallet)
  t.match(await as(token, '/user/v1/cards'), { status: 200, body: { data: { cards: [{ id: card.id }] } } })
  t.match(await as(token, `/user/v1/cards/${card.id}/secrets`, { body: {} }), { status: 403 })
  t.match(await as(token, '/user/v1/cards/secrets/session', { body: {} }), {
    status: 403,
    body: { error: 'insufficient_scope' },
  })
})

t.test('locks and cancels a card and lowers its limit, and gives it nothing back', async t => {
  const wallet = newWallet()
  const { session } = await rootKey(wallet)
  const limit = { amount: 5000, frequency: 'per30DayPeriod' }
  const { id } = (await moneyUser(send, { token: session }).write('/cards', { limit })).body.data['card'] as {
    id: string
  }
  const token = await openConsole(wallet)
  let requests = 0
  const change = (body: object): Promise<HttpResponse> =>
    as(token, `/user/v1/cards/${id}`, {
      method: 'PATCH',
      body,
      headers: { 'idempotency-key': `of-a-console-${++requests}` },
    })
  const above = { status: 403, body: { error: 'policy_blocked', rule: 'card_above_caller' } }
  t.match(await change({ status: 'locked' }), { status: 200, body: { data: { card: { status: 'locked' } } } })
  t.match(await change({ status: 'active' }), above)
  t.match(await change({ limit: { ...limit, amount: 4000 } }), { status: 200 })
  t.match(await change({ limit }), above)
  t.match(await change({ limit: null }), above)
  t.match(await change({ status: 'canceled' }), { status: 200 })
})

t.test('makes and rotates no key, narrows and revokes each, and none of it raises a right', async t => {
  const wallet = newWallet()
  const { id, session } = await rootKey(wallet, { policy: { dailySpendCapCents: 500 } })
  const token = await openConsole(wallet)
  const outside = { status: 403, body: { error: 'policy_blocked', rule: 'key_authority' } }
  t.match(await as(token, '/user/v1/keys', { body: { scopes: ['users.read'] } }), outside)
  const rotate = `/user/v1/keys/${id}/rotate`
  t.match(await as(token, rotate, { body: {} }), outside)
  const change = (body: object): Promise<HttpResponse> =>
    as(token, `/user/v1/keys/${id}`, { method: 'PATCH', body })
  t.match(await change({ policy: { dailySpendCapCents: 100 } }), {
    status: 200,
    body: { policy: [{ dailySpendCapCents: 500 }, { dailySpendCapCents: 100 }] },
  })
  t.match(await change({ scopes: ['users.read'] }), { status: 200, body: { scopes: ['users.read'] } })
  t.match(await change({ scopes: ['users.read', 'payments.write'] }), { status: 403 })
  await ends(session)
  t.match(await as(token, `/user/v1/keys/${id}`, { method: 'DELETE' }), { status: 200 })
})

t.test('is listed as a console, cannot be passed off as a key, and ends when it is revoked', async t => {
  const wallet = newWallet()
  const { session } = await rootKey(wallet)
  const token = await openConsole(wallet)
  const [console, key] = (await keysOf(session)).toSorted(
    (a, b) => Number(b['console']) - Number(a['console']),
  )
  t.match(console, { console: true, createdBy: null, policy: { maxAuthAmountCents: 0 }, revokedAt: null })
  t.match(key, { console: false })
  const sessions = (await as(session, '/user/v1/sessions')).body['sessions'] as { keyId: string }[]
  t.equal(sessions.filter(({ keyId }) => keyId === console?.['id']).length, 1)
  const id = console?.['id'] as string
  for (const by of [session, token])
    t.match(await as(by, `/user/v1/keys/${id}`, { method: 'PATCH', body: { scopes: [] } }), { status: 403 })
  t.match(await as(await webToken(send, wallet), `/user/v1/keys/${id}/rotate`, { body: {} }), { status: 403 })
  t.match(await as(session, `/user/v1/keys/${id}`, { method: 'DELETE' }), { status: 200 })
  await ends(token)
})

t.test('ends with its session, by itself after an hour, and the oldest of six at once', async t => {
  const wallet = newWallet()
  const { session } = await rootKey(wallet)
  const live = async (): Promise<number> =>
    (await keysOf(session)).filter(({ console, revokedAt }) => console && revokedAt === null).length
  const token = await openConsole(wallet)
  t.match(await as(token, '/user/v1/sessions/current', { method: 'DELETE' }), {
    body: { data: { ended: 1 } },
  })
  t.equal(await live(), 0)
  await ends(token)
  const tokens: string[] = []
  for (let n = 0; n < 6; n++) {
    tokens.push(await openConsole(wallet))
    clock.advance(1000)
  }
  t.equal(await live(), 5)
  await ends(tokens[0] as string)
  const works = await Promise.all(tokens.map(async each => (await as(each, '/user/v1/users')).status))
  t.same(works, [401, 200, 200, 200, 200, 200], 'the first has ended, and no other')
  clock.advance(3600_000)
  for (const each of tokens) t.match(await as(each, '/user/v1/users'), { status: 401 })
})

t.test('a web token rotates one key of its wallet, root or below, and no other', async t => {
  const wallet = newWallet()
  const { id, session } = await rootKey(wallet, { policy: { dailySpendCapCents: 500 } })
  const child = await as(session, '/user/v1/keys', { body: { scopes: ['users.read'] } })
  const rotate = (token: string, keyId: string, prefix = '/user/v1/keys'): Promise<HttpResponse> =>
    as(token, `${prefix}/${keyId}/rotate`, { body: {} })
  const stranger = await webToken(send)
  t.match(await rotate(stranger, id), { status: 404, body: { error: 'not_found' } })
  const below = await rotate(await webToken(send, wallet), child.body['userKeyId'] as string)
  t.match(below, { status: 200, body: { scopes: ['users.read'], userApiKey: /^gw_sandbox_user_/ } })
  const token = await webToken(send, wallet)
  const responses = await Promise.all(
    Array.from({ length: 10 }, () => rotate(token, id, '/identity/user-api-keys')),
  )
  const made = responses.filter(({ status }) => status === 200)
  t.equal(made.length, 1)
  for (const { status } of responses.filter(each => !made.includes(each))) t.equal(status, 401)
  const listed = await keysOf(await openConsole(wallet))
  const successor = listed.find(key => key['id'] === made[0]?.body['userKeyId'])
  t.match(successor, { policy: { dailySpendCapCents: 500 }, rotatedBy: null, createdBy: null })
  t.ok(listed.find(key => key['id'] === id)?.['revokedAt'])
  t.match(await exchange(token), { status: 401 }, 'and the token is used up')
})

t.test('reads the caps of each key of the account, and of no other', async t => {
  const wallet = newWallet()
  const policy = {
    dailySpendCapCents: 500,
    limits: [{ operations: ['bills.*'], window: 'month', maxCents: 900 }],
  }
  const { id, session } = await rootKey(wallet, { policy })
  const money = moneyUser(send, { token: session })
  await money.fund(1000)
  const bill = { payee: 'City Power', amountCents: 120, dueAt: '2030-01-01' }
  const { id: billId } = (await money.write('/bills', bill)).body.data['bill'] as { id: string }
  t.equal((await money.write(`/bills/${billId}/pay`, {})).status, 200)
  const token = await openConsole(wallet)
  for (const prefix of ['/user/v1/keys', '/identity/user-api-keys'])
    t.match((await as(token, `${prefix}/${id}/caps`)).body['caps'], [
      { rule: 'dailySpendCapCents', window: 'day', cap: 500, used: 120, remaining: 380, inherited: false },
      { rule: 'limits', operations: ['bills.*'], window: 'month', cap: 900, used: 120, remaining: 780 },
    ])
  const below = await send('/user/v1/keys', {
    body: { policy: { maxAuthAmountCents: 50 } },
    headers: bearer(session),
  })
  const ofBelow = await as(token, `/user/v1/keys/${String(below.body['userKeyId'])}/caps`)
  const rights = ofBelow.body['caps'] as { rule: string }[]
  t.match(
    rights.toSorted((one, other) => one.rule.localeCompare(other.rule)),
    [
      { rule: 'dailySpendCapCents', used: 120, inherited: true },
      { rule: 'limits', used: 120, inherited: true },
      { rule: 'maxAuthAmountCents', used: 0, inherited: false },
    ],
  )
  const unknown = await as(token, '/user/v1/keys/never-existed/caps')
  t.match(unknown, { status: 404, body: { error: 'not_found' } })
  const foreign = await as(await openConsole(), `/user/v1/keys/${id}/caps`)
  t.same([foreign.status, foreign.body], [404, unknown.body])
})

t.test('no token of a console is in a decision event', async t => {
  const token = await openConsole()
  await as(token, '/user/v1/users')
  t.notOk(JSON.stringify(host.decisions).includes(token.slice(-40)))
  t.same(host.failures, [])
})
