// Every operation with onboarding requirements, with both settings, replays included. Which ones those are is found by calling
// all writes, so an operation whose declaration becomes one of them is missing below until it is added.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { bearer, bootstrapUser, openTestHost, type HttpResponse, type TestHost } from '../harness/host.ts'
import { inlined } from '../harness/openapi.ts'
import { memberOf, withdrawalBody } from './harness/transfers.ts'

type Surface = 'user' | 'partner'
type Requirements = 'on' | 'partner'
interface OperationDescription {
  readonly security: Record<string, unknown>[]
  readonly requestBody?: { readonly content: { 'application/json': { example?: object } } }
}

const SCHEMES = { user: 'UserSessionBearer', partner: 'PartnerSessionBearer' }
const ASSET = { currency: 'usdc', network: 'base' }
const RULES = ['kyc_required', 'agreements_required', 'account_locked'] as const
/** How a message to a partner begins, by rule. */
const WORDS = {
  kyc_required: 'kyc required: ',
  agreements_required: 'agreements required: ',
  account_locked: 'account locked: ',
}

/** Somebody on one surface, and what they have. */
interface Caller {
  readonly surface: Surface
  call(path: string, options?: { method?: string; body?: object; key?: string }): Promise<HttpResponse>
  kyc(status: string): Promise<void>
  accept(): Promise<void>
}

async function callerOf(host: TestHost, surface: Surface): Promise<Caller> {
  const call: Caller['call'] = async (path, { method = 'POST', body = {}, key = randomUUID() } = {}) =>
    host.send(`/${surface}/v1${path}`, {
      method,
      headers: { ...bearer(token), 'idempotency-key': key },
      ...(method === 'GET' || method === 'DELETE' ? {} : { body }),
    })
  const token = surface === 'user' ? (await bootstrapUser(host.send)).token : await partnerToken(host)
  return {
    surface,
    call,
    async kyc(status) {
      const response = await call('/sandbox/kyc', { body: { status } })
      if (response.status !== 200) throw new Error(JSON.stringify(response.body))
    },
    async accept() {
      await call('/agreements', { body: { accepted: true } })
    },
  }
}

async function partnerToken({ send, partnerKey }: TestHost): Promise<string> {
  const headers = { 'x-partner-key': partnerKey }
  const userId = randomUUID()
  await send('/partner/v1/users/resolve', { body: { userId }, headers })
  const scopes = ['kyc.write', 'cards.read', 'cards.write', 'deposits.write', 'withdrawals.write']
  const more = ['encryption.write', 'users.write', 'cards.secrets.read', 'deposits.read']
  const opened = await send('/partner/v1/sessions', {
    headers,
    body: { userId, scopes: [...scopes, ...more] },
  })
  if (opened.status !== 200) throw new Error(JSON.stringify(opened.body))
  return opened.body.data['sessionToken'] as string
}

/** A write with onboarding requirements: the request of one caller, made of what that caller has. */
type Request = (caller: Caller, friend: string) => Promise<{ path: string; body: object }>

/** All such writes that an idempotency key can be sent with. */
const GATED: Readonly<Record<Surface, Readonly<Record<string, Request>>>> = {
  user: {
    'POST /user/v1/bills/{billId}/pay': async ({ call }) => {
      const note = { payee: 'City Power', amountCents: 10, dueAt: '2030-01-01' }
      return { path: `/bills/${memberOf(await call('/bills', { body: note }), 'bill').id}/pay`, body: {} }
    },
    'POST /user/v1/cards': async () => ({ path: '/cards', body: {} }),
    'POST /user/v1/cards/disposable/execute': async ({ call }) => {
      const proposed = await call('/cards/disposable/proposals', { body: { amountCents: 500 } })
      const { proposalId } = memberOf(proposed, 'disposable')
      return { path: '/cards/disposable/execute', body: { proposalId } }
    },
    'POST /user/v1/deposits': async () => ({ path: '/deposits', body: ASSET }),
    'POST /user/v1/payments': async (_, friend) => ({
      path: '/payments',
      body: { to: { walletAddress: friend }, amountCents: 10 },
    }),
    'POST /user/v1/withdrawals': async () => ({ path: '/withdrawals', body: withdrawalBody(200) }),
  },
  partner: {
    'POST /partner/v1/cards': async () => ({ path: '/cards', body: {} }),
    'POST /partner/v1/deposits': async () => ({ path: '/deposits', body: ASSET }),
    'POST /partner/v1/withdrawals': async () => ({ path: '/withdrawals', body: withdrawalBody(200) }),
  },
}

function isClosed(surface: Surface, rule: (typeof RULES)[number], { status, body }: HttpResponse): boolean {
  if (surface === 'user') return status === 403 && body['rule'] === rule
  const begins = String(body['message']).startsWith(WORDS[rule])
  return status === 409 && body['error'] === 'invalid_state' && begins
}

async function start(requirements: Requirements): Promise<TestHost> {
  const host = await openTestHost(t, { RATE_LIMITS: 'off', ONBOARDING_GATES: requirements })
  return host
}

/** One host for each setting: every test has a caller of its own. */
const hosts = { on: await start('on'), partner: await start('partner') }

/** Legacy names of other operations; those that end the caller, and those that meet the requirements. */
const APART = /^\/consumer\/|\/sessions$|\/kyc(?:\/applications)?$|\/agreements$/

/** The writes of a surface that a new account cannot make because of its identity check. The body is the example of the description. */
async function closedWrites(host: TestHost, caller: Caller): Promise<string[]> {
  const { surface } = caller
  const published = (await host.send('/openapi.json')).body
  const described = inlined(published, published['paths']) as Record<
    string,
    Record<string, OperationDescription>
  >
  const found: string[] = []
  for (const [path, item] of Object.entries(described))
    for (const [method, { security, requestBody }] of Object.entries(item)) {
      if (method === 'get' || !security.some(each => SCHEMES[surface] in each)) continue
      const name = path.replaceAll(/\{\w+\}/g, 'any').replace(`/${surface}/v1`, '')
      const body = requestBody?.content['application/json'].example
      if (APART.test(path)) continue
      const response = await caller.call(name, { method: method.toUpperCase(), ...(body ? { body } : {}) })
      if (isClosed(surface, 'kyc_required', response)) found.push(`${method.toUpperCase()} ${path}`)
    }
  return found.toSorted()
}

for (const surface of ['user', 'partner'] as const)
  t.test(`the ${surface} writes with onboarding requirements are those below, and no other`, async t => {
    const host = hosts.on
    const found = await closedWrites(host, await callerOf(host, surface))
    t.same(found, Object.keys(GATED[surface]).toSorted())
    t.same(host.failures, [])
  })

for (const requirements of ['on', 'partner'] as const)
  for (const surface of ['user', 'partner'] as const) {
    const open = requirements === 'partner' && surface === 'user'
    const what = open ? 'works at once' : 'waits for identity and agreements'
    t.test(`with onboarding requirements ${requirements}, every such ${surface} write ${what}`, async t => {
      const host = hosts[requirements]
      const caller = await callerOf(host, surface)
      const { call, kyc, accept } = caller
      const friend = (await bootstrapUser(host.send)).address
      if (surface === 'user') await call('/deposits', { body: { amountCents: 5000 } })
      const asked: { name: string; path: string; body: object; key: string }[] = []
      for (const [name, request] of Object.entries(GATED[surface]))
        asked.push({ name, ...(await request(caller, friend)), key: randomUUID() })
      const denied = async (rule: (typeof RULES)[number], fresh = false): Promise<void> => {
        for (const { name, path, body, key } of asked) {
          const response = await call(path, { body, key: fresh ? randomUUID() : key })
          t.ok(isClosed(surface, rule, response), `${name}: ${rule}, got ${JSON.stringify(response.body)}`)
        }
      }
      if (!open) {
        await denied('kyc_required')
        for (const status of ['pending', 'manual_review']) {
          await kyc(surface === 'user' ? status.replace('_r', 'R') : status)
          await denied('kyc_required')
        }
        await kyc('approved')
        await denied('agreements_required')
        await accept()
      }
      for (const status of ['locked', 'denied']) {
        await kyc(status)
        await denied('account_locked')
      }
      await kyc('approved')
      if (surface === 'partner') {
        const { id } = memberOf(await call('/deposits', { body: ASSET }), 'deposit')
        await call(`/sandbox/deposits/${id}/pay`, { body: { amount: '50' } })
      }
      const first: HttpResponse[] = []
      for (const { name, path, body, key } of asked) {
        const response = await call(path, { body, key })
        first.push(response)
        t.equal(response.status, 200, `${name}: the same key works: ${JSON.stringify(response.body)}`)
        t.equal(response.headers.get('idempotency-replayed'), null)
      }
      await kyc('locked')
      for (const [n, { name, path, body, key }] of asked.entries()) {
        const replay = await call(path, { body, key })
        t.same([replay.status, replay.headers.get('idempotency-replayed')], [200, 'true'], name)
        t.same(
          replay.body.data,
          first[n]?.body.data,
          `${name}: the stored response, though a requirement is not met`,
        )
      }
      await denied('account_locked', true)
      t.same(host.failures, [])
    })

    t.test(
      `with onboarding requirements ${requirements}, a ${surface} loosens a card behind the requirements, and tightens it always`,
      async t => {
        const host = hosts[requirements]
        const caller = await callerOf(host, surface)
        const { call, kyc, accept } = caller
        await kyc('approved')
        await accept()
        const made = await call('/cards')
        const id = (surface === 'user' ? memberOf(made, 'card').id : made.body.data['cardId']) as string
        const patch = (body: object): Promise<HttpResponse> => call(`/cards/${id}`, { method: 'PATCH', body })
        const limit = { [surface === 'user' ? 'amount' : 'amountCents']: 100, frequency: 'allTime' }
        for (const [status, rule] of [
          [surface === 'user' ? 'manualReview' : 'manual_review', 'kyc_required'],
          ['locked', 'account_locked'],
        ] as const) {
          await kyc(status)
          for (const body of [{ status: 'locked' }, { limit }]) t.equal((await patch(body)).status, 200)
          for (const body of [{ status: 'active' }, { limit: null }]) {
            const response = await patch(body)
            const passes = open && rule === 'kyc_required'
            t.ok(
              passes ? response.status === 200 : isClosed(surface, rule, response),
              JSON.stringify(response.body),
            )
          }
        }
        t.equal((await patch({ status: 'canceled' })).status, 200, 'canceling has no requirements')
        t.same(host.failures, [])
      },
    )
  }
