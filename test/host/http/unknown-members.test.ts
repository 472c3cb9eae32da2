import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { bearer, bootstrapUser, newWallet, signedBootstrap, openTestHost } from '../../harness/host.ts'
import * as internals from '../../harness/internals.ts'
import { inlined } from '../../harness/openapi.ts'
import { moneyUser } from '../../reference-host/harness/money.ts'
import { partnerUser, type PartnerUser } from '../../reference-host/harness/partner.ts'
import { sampleOf } from '../../harness/random-cases.ts'
import { webToken } from '../../reference-host/harness/web-sign-in.ts'

interface OperationDescription {
  readonly operationId: string
  readonly description?: string
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly parameters?: readonly { readonly in: string; readonly name: string }[]
  readonly requestBody?: {
    readonly content: {
      readonly 'application/json': {
        readonly schema: { readonly properties: object; readonly additionalProperties?: boolean }
      }
    }
  }
}

/** How the description of an operation says that it denies unknown names. */
const DENIES_UNKNOWN = 'Refuses a member of the body and a query parameter that it does not know'

/** Every operation that makes or changes a key or a session, without reads, which all deny unknown query parameters. */
const STRICT = [
  'auth_bootstrap',
  'auth_openConsole',
  'auth_startCli',
  'sessions_create',
  'sessions_createForPartner',
  'sessions_end',
  'keys_create',
  'keys_change',
  'keys_rotate',
  'keys_pause',
  'keys_resume',
  'keys_revoke',
]
/** Every write that moves or promises money. */
const MONEY = [
  'approvals_approve',
  'approvals_deny',
  'bills_create',
  'bills_pay',
  'cards_cancel',
  'cards_change',
  'cards_create',
  'cards_execute',
  'cards_propose',
  'cards_simulateAuthorization',
  'cards_simulateClearing',
  'cards_simulateRefund',
  'cards_simulateReversal',
  'deposits_create',
  'deposits_simulate',
  'deposits_transfer',
  'partner_cards_change',
  'partner_cards_create',
  'partner_cards_simulateAuthorization',
  'partner_cards_simulateClearing',
  'partner_cards_simulateRefund',
  'partner_cards_simulateReversal',
  'partner_deposits_create',
  'partner_deposits_simulate',
  'partner_withdrawals_create',
  'payments_create',
  'subscriptions_checkout',
  'subscriptions_confirm',
  'subscriptions_confirmBalance',
  'subscriptions_payin',
  'subscriptions_simulatePayment',
  'withdrawals_create',
]
/** Pay-ins keep members that they do not know. */
const KEEPING = ['subscriptions_payin', 'subscriptions_checkout']
/** And the events of providers, whose members carry money and identity. */
const PROVIDERS = '/providers/{name}/events'

const host = await openTestHost(t, { RATE_LIMITS: 'off' })
const { send } = host
const description = (await send('/openapi.json')).body
const paths = inlined(description, description['paths']) as Record<
  string,
  Record<string, OperationDescription>
>
const operations = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    ...operation,
    path,
    method: method.toUpperCase(),
    // Legacy and further paths of an operation have a number behind its name.
    name: operation.operationId.replace(/_\d+$/, ''),
  })),
)
const owner = await bootstrapUser(send)
const keyCount = async (): Promise<number> =>
  ((await send('/user/v1/keys', { headers: bearer(owner.token) })).body['keys'] as unknown[]).length

/** A credential for each security scheme. */
const CREDENTIALS: Readonly<Record<string, Record<string, string>>> = {
  UserSessionBearer: bearer(owner.token),
  ConsumerSessionBearer: bearer(owner.token),
  UserKey: { 'x-user-key': owner.key },
  ConsumerKey: { 'x-consumer-key': owner.key },
  PartnerKey: { 'x-partner-key': host.partnerKey },
  WebToken: bearer(await webToken(send)),
}

const partner = await partnerUser(host, 'usr-reads', [...internals.partnerScopes.names])
/** Sends with the credential of a security scheme. */
const sendWith =
  (path: string, scheme: string): PartnerUser =>
  (address, options = {}) =>
    path.startsWith('/partner/') && scheme !== 'PartnerKey'
      ? partner(address, options)
      : send(address, { ...options, headers: { ...CREDENTIALS[scheme], ...options.headers } })

/** A name that is near to one known name and is not known itself. */
function misspelt(name: string, known: readonly string[]): string {
  const wrong = [name.slice(0, -1), `${name}s`, `${name}x`].find(each => each !== '' && !known.includes(each))
  return wrong as string
}

t.test('a misspelt scopes or policy makes no key and no session', async t => {
  const before = await keyCount()
  const body = { scope: ['cards.read'], policies: { maxAuthAmountCents: 100 } }
  const expected = {
    status: 400,
    body: {
      error: 'invalid_request',
      field: 'scope',
      message: 'scope is not a known member; did you mean scopes?',
    },
  }
  for (const path of ['/user/v1/keys', '/consumer/v1/keys', '/identity/user-api-keys'])
    t.match(await send(path, { body, headers: bearer(owner.token) }), expected, path)
  t.match(await send('/user/v1/sessions', { body, headers: { 'x-user-key': owner.key } }), expected)
  t.match(await send('/user/v1/sessions', { body, headers: bearer(owner.token) }), expected)
  t.match(
    await send('/user/v1/keys', {
      body: { policies: { maxAuthAmountCents: 100 } },
      headers: bearer(owner.token),
    }),
    { status: 400, body: { field: 'policies', message: /did you mean policy\?/ } },
  )
  t.equal(await keyCount(), before)
})

t.test('a bootstrap with an unknown member uses up no nonce', async t => {
  const body = await signedBootstrap(newWallet())
  t.match(await send('/user/v1/bootstrap', { body: { ...body, scope: [] } }), {
    status: 400,
    body: { field: 'scope' },
  })
  t.match(await send('/user/v1/bootstrap', { body }), { status: 200 })
})

t.test('exactly the operations that make credentials or move money deny unknown members', async t => {
  const denying = operations.filter(({ description: text }) => text?.includes(DENIES_UNKNOWN))
  t.same([...new Set(denying.map(({ name }) => name))].sort(), [...STRICT, ...MONEY].sort())
  const closed = operations.filter(
    ({ requestBody }) => requestBody?.content['application/json'].schema.additionalProperties === false,
  )
  const expected = operations.filter(
    ({ name, path, requestBody }) =>
      (requestBody && [...STRICT, ...MONEY].includes(name) && !KEEPING.includes(name)) || path === PROVIDERS,
  )
  t.same(
    closed.map(({ path, method }) => `${method} ${path}`),
    expected.map(({ path, method }) => `${method} ${path}`),
  )
})

/** Sends a request of an operation with one of its credentials. */
const sender =
  ({ path, method }: (typeof operations)[number], scheme: string) =>
  (query: string, body?: object) =>
    sendWith(path, scheme)(`${path.replaceAll(/\{\w+\}/g, 'some-id')}${query}`, {
      method,
      headers: { 'idempotency-key': randomUUID() },
      ...(body === undefined ? {} : { body }),
    })

async function deniesUnknown(t: Test, operation: (typeof operations)[number]): Promise<void> {
  const { path, method, security = [], parameters = [], requestBody } = operation
  const schema = requestBody?.content['application/json'].schema
  const members = Object.keys(schema?.properties ?? {})
  const parameterNames = parameters.filter(each => each.in === 'query').map(({ name }) => name)
  const schemes = security.length === 0 ? ['none'] : security.flatMap(each => Object.keys(each))
  for (const [index, scheme] of schemes.entries()) {
    const ask = sender(operation, scheme)
    const at = `${method} ${path} with ${scheme}`
    // Every name with one credential, and one name with each other credential.
    const tried = KEEPING.includes(operation.name) ? [] : index === 0 ? members : members.slice(0, 1)
    for (const name of tried) {
      const wrong = misspelt(name, members)
      // A legacy name is accepted, and current names are suggested.
      const near = name === 'externalUserId' ? /is not a known member/ : new RegExp(`did you mean ${name}\\?`)
      t.match(
        await ask('', { [wrong]: null }),
        { status: 400, body: { error: 'invalid_request', field: wrong, message: near } },
        `${at}: ${wrong}`,
      )
    }
    for (const name of parameterNames) {
      const wrong = misspelt(name, parameterNames)
      const message = `${wrong} is not a known query parameter; did you mean ${name}?`
      t.match(await ask(`?${wrong}=1`), { status: 400, body: { field: wrong, message } }, `${at}: ?${wrong}`)
    }
    t.match(await ask('?__proto__=1'), { status: 400, body: { field: '__proto__' } }, `${at}: ?__proto__`)
    if (method === 'GET') continue
    if (KEEPING.includes(operation.name)) continue
    t.match(
      await ask('', { nothingLikeIt: 1 }),
      { status: 400, body: { field: 'nothingLikeIt' } },
      `${at}: nothing`,
    )
  }
}

t.test('denies every misspelt member and query parameter, and suggests the right one', async t => {
  const before = await keyCount()
  for (const operation of operations.filter(({ name }) => [...STRICT, ...MONEY].includes(name)))
    await deniesUnknown(t, operation)
  t.equal(await keyCount(), before, 'and nothing was made')
})

t.test('denies an unknown member inside an object that an operation knows', async t => {
  const wallet = { chain: 'evm', address: `0x${'1'.repeat(40)}` }
  const headers = { 'x-partner-key': host.partnerKey }
  await send('/partner/v1/users/resolve', { body: { externalUserId: 'ann', wallet }, headers })
  const body = { externalUserId: 'ann', wallet, scopes: ['cards.read'] }
  t.match(await send('/partner/v1/sessions', { body, headers }), { status: 200 }, 'old names are accepted')
  t.match(
    await send('/partner/v1/sessions', {
      body: { ...body, wallet: { ...wallet, addres: 'x' } },
      headers,
    }),
    {
      status: 400,
      body: {
        field: 'wallet.addres',
        message: 'wallet.addres is not a known member; did you mean address?',
        errors: [{ field: 'wallet.addres' }],
      },
    },
  )
})

t.test('an error repeats the beginning of a long unknown name', async t => {
  const name = 'scopes'.padEnd(100_000, 'x')
  for (const [query, body] of [
    ['', { [name]: 1 }],
    [`?${name.slice(0, 8000)}=1`, {}],
  ] as const) {
    const { status, body: error } = await send(`/user/v1/sessions${query}`, {
      body,
      headers: { 'x-user-key': owner.key },
    })
    t.equal(status, 400)
    t.equal(error['field'], `${name.slice(0, 16)}…`)
    t.ok((error['message'] as string).length < 200)
  }
})

/** The reads of both surfaces that a session may do. */
const reads = operations.filter(
  ({ method, path, security = [] }) =>
    method === 'GET' &&
    /^\/(?:user|partner)\/v1\//.test(path) &&
    security.some(each => Object.keys(each).length),
)

/** Names of parameters that clients of other APIs send, with the names that they mean, by how well they are known. */
const FOREIGN: Readonly<Record<string, readonly string[]>> = {
  page: ['cursor', 'after'],
  offset: ['cursor', 'after'],
  starting_after: ['cursor', 'after'],
  cursor: ['cursor', 'after'],
  per_page: ['limit'],
  pageSize: ['limit'],
  since: ['from'],
  from: ['from'],
  until: ['to'],
  status: ['status'],
  type: ['type'],
  q: ['q'],
  sort: [],
  order: [],
  filter: [],
  fields: [],
}

t.test(
  'every read denies a query parameter that it does not know, and names the one that is meant',
  async t => {
    t.ok(reads.length > 45, `${reads.length} reads`)
    const wrong: string[] = []
    for (const [at, { path, parameters = [], security = [] }] of reads.entries()) {
      const known = parameters.filter(each => each.in === 'query').map(({ name }) => name)
      const scheme = security.flatMap(each => Object.keys(each)).find(name => name in CREDENTIALS) ?? ''
      const read = (query: string) => {
        const address = `${path.replaceAll(/\{\w+\}/g, 'some-id')}?${query}`
        return sendWith(path, scheme)(address)
      }
      const foreign = Object.entries(FOREIGN)
        .filter(([name]) => !known.includes(name))
        .map(([name, meant]) => {
          const near = known.find(each => meant.includes(each))
          const message =
            near === undefined ? /is not a known query parameter/ : new RegExp(`did you mean ${near}\\?`)
          return { name, message }
        })
      const misspelled = known.map(name => {
        const wrong = misspelt(name, known)
        return {
          name: wrong,
          message: new RegExp(`^${wrong} is not a known query parameter; did you mean ${name}\\?`, 'i'),
        }
      })
      const denied = [...foreign, ...misspelled]
      const first = at % denied.length
      // Each read is tried with other names than the next.
      for (const { name, message } of sampleOf([...denied.slice(first), ...denied.slice(0, first)])) {
        const { status, body } = await read(`${name}=2`)
        const { error, field } = body
        if (
          status !== 400 ||
          error !== 'invalid_request' ||
          field !== name ||
          !message.test(String(body['message']))
        )
          wrong.push(`${path}?${name}: ${status} ${String(body['message'])}`)
      }
      const fromJQuery = await read('_=1767225600000')
      if (fromJQuery.body['field'] === '_') wrong.push(`${path}?_`)
    }
    t.same(wrong, [])
  },
)

t.test('public documents ignore what they do not know', async t => {
  for (const path of ['/healthz', '/openapi.json', '/.well-known/jwks.json'])
    t.equal((await send(`${path}?cache=1`)).status, 200, path)
})

const folder = (query: string, extra: object = {}, headers: Record<string, string> = {}) =>
  send(`/user/v1/folders${query}`, {
    body: { name: 'Travel', ...extra },
    headers: { ...bearer(owner.token), ...headers },
  })

t.test('accepts unknown members and query parameters elsewhere, and lists them in the response', async t => {
  const made = await folder('?colour=1&note=2', { color: 'crimson', note: 'x' })
  t.match(made, { status: 200, body: { ok: true, ignored: ['color', 'note', 'colour'] } })
  t.notOk(JSON.stringify(made.body).includes('crimson'), 'never a value')
  t.notOk('ignored' in (await folder('')).body, 'absent where nothing was ignored')
  t.notOk('ignored' in (await folder('?cards=', { name: 7 })).body, 'absent in errors')
})

t.test(
  'lists members of objects with their path, and those in a list once for all of its objects',
  async t => {
    const items = [
      { id: 'a', value: 'one', note: 1, value2: { note: 3 } },
      { id: 'b', value: 'two', note: 2 },
    ]
    const response = await send('/user/v1/crypto/encrypt', {
      body: { items, dry: true },
      headers: bearer(owner.token),
    })
    t.match(response, { status: 200, body: { ignored: ['items[].note', 'items[].value2', 'dry'] } })
  },
)

t.test('lists at most 20 names, and of a long one the beginning', async t => {
  const many = (count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`extra${index}`, 1]))
  const ignored = async (extra: object, query = ''): Promise<readonly string[]> =>
    (await folder(query, extra)).body['ignored'] as string[]
  t.equal((await ignored(many(20))).length, 20)
  t.same(await ignored(many(10_000)), Object.keys(many(20)))
  t.equal((await ignored(many(19), '?a=1&b=1')).length, 20)
  t.same(await ignored({ ['x'.repeat(32)]: 1 }), ['x'.repeat(32)])
  t.same(await ignored({ ['x'.repeat(33)]: 1, ['x'.repeat(34)]: 1 }), [`${'x'.repeat(16)}…`])
  t.same(await ignored(JSON.parse('{"__proto__":1,"\\n\\"<b>":2,"":3}') as object), [
    '__proto__',
    '\n"<b>',
    '',
  ])
})

t.test('lists ignored names in the envelope of partners and in an Open Responses object', async t => {
  const headers = { 'x-partner-key': host.partnerKey }
  const resolve = (more: Record<string, string> = {}) =>
    send('/partner/v1/users/resolve', {
      body: { userId: 'ann', wallett: 1 },
      headers: { ...headers, ...more },
    })
  const { body } = await resolve()
  t.match(body, { ok: true, ignored: ['wallett'] })
  t.notOk('ignored' in body.data)
  const { output } = (await resolve({ 'x-open-responses': '1' })).body as unknown as {
    output: [unknown, { output: string }]
  }
  t.match(JSON.parse(output[1].output), { ok: true, ignored: ['wallett'] })
})

t.test('a payment in another currency is refused, and one in USD may say so', async t => {
  const headers = bearer(owner.token)
  const money = moneyUser(send, owner)
  await money.fund(10_000)
  const payee = await bootstrapUser(send)
  const payment = { to: { walletAddress: payee.address }, amountCents: 1 }
  t.match(await money.write('/payments', { ...payment, currency: 'USD' }), { status: 200 })
  for (const currency of ['EUR', 'usd', 'USDC', '', null, 1, ['USD']])
    t.match(await money.write('/payments', { ...payment, currency }), {
      status: 400,
      body: {
        error: 'invalid_request',
        field: 'currency',
        message: 'currency must be USD, or left out: only USD is paid.',
      },
    })
  t.match(await money.write('/payments', { ...payment, amount: '12.00' }), {
    status: 400,
    body: { field: 'amount', message: /did you mean amountCents\?/ },
  })
  const destination = { currency: 'usdc', network: 'base', address: payee.address }
  for (const name of ['memo', 'tag'])
    t.match(
      await money.write('/withdrawals', { amountCents: 500, destination: { ...destination, [name]: '7' } }),
      { status: 400, body: { field: `destination.${name}` } },
    )
  t.match(await money.write('/withdrawals', { amountCents: 500, destination, feeCents: 1 }), {
    status: 400,
    body: { field: 'feeCents' },
  })
  t.match(await send('/user/v1/keys', { body: { currency: 'USD' }, headers }), {
    status: 400,
    body: { field: 'currency' },
  })
  t.equal(await money.balance(), 9_999, 'only the first one was paid')
})

t.test('a pay-in keeps its unknown members, so they are not listed as ignored', async t => {
  const headers = { ...bearer(owner.token), 'idempotency-key': 'keeps-members' }
  const made = await send('/user/v1/subscriptions/payin', {
    body: { amountCents: 100, order: 7, metadata: { note: 'x' } },
    headers,
  })
  t.equal(made.status, 200)
  t.notOk('ignored' in made.body)
  const { id } = made.body.data['payin'] as { id: string }
  t.match(await send(`/user/v1/subscriptions/payins/${id}`, { headers: bearer(owner.token) }), {
    body: { data: { payin: { properties: { order: 7, metadata: { note: 'x' } } } } },
  })
})
