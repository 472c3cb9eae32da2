import { createClient, GatewrightError, type Problem } from '@gatewright/client'
import * as partner from '@gatewright/client/partner'
import * as user from '@gatewright/client/user'
import t from 'tap'
import { problem, reply, scriptedHost, session, success, type ScriptedHost } from './scripted.ts'

const token = { token: 'tok' }
const deposit = { body: { amountCents: 500 } }
const balances = { balances: [] }

/** The problem with which a call fails. */
async function problemOf(call: Promise<unknown>): Promise<Problem & { readonly key: string | undefined }> {
  try {
    await call
  } catch (error) {
    if (error instanceof GatewrightError) return { ...error.problem, key: error.idempotencyKey }
    throw error
  }
  throw new Error('the call succeeded')
}

const paths = ({ requests }: ScriptedHost): string[] =>
  requests.map(({ method, path }) => `${method} ${path}`)

t.test('a call', async t => {
  t.test('sends path, query, body and token, and returns what the host said', async t => {
    const host = scriptedHost(
      success({ card: { id: 'c' } }, { 'x-request-id': 'r1', 'idempotency-replayed': 'true' }),
      success({ transactions: [], nextCursor: null }),
    )
    const client = createClient({ ...host.options, credential: token })
    const changed = await client.call(user.cardsChange, {
      params: { cardId: 'a/b c' },
      body: { action: 'lock' } as object,
    })
    t.match(changed, {
      data: { card: { id: 'c' } },
      summary: 'Done.',
      status: 200,
      replayed: true,
      requestId: 'r1',
    })
    await client.call(user.transactionsList, {
      query: { type: ['fee', 'spend'], limit: 2, cursor: undefined as never },
    })
    t.same(paths(host), [
      'PATCH /user/v1/cards/a%2Fb%20c',
      'GET /user/v1/transactions?type=fee%2Cspend&limit=2',
    ])
    const [first, second] = host.requests
    t.same(first?.body, { action: 'lock' })
    t.equal(first?.headers.get('authorization'), 'Bearer tok')
    t.equal(first?.headers.get('content-type'), 'application/json')
    t.match(first?.headers.get('idempotency-key'), /^[0-9a-f]{32}$/)
    t.equal(second?.headers.get('idempotency-key'), null, 'reads have no key')
    t.equal(second?.headers.get('content-type'), null)
  })

  t.test('refuses a path parameter that would make another path', async t => {
    const host = scriptedHost()
    const client = createClient({ ...host.options, credential: token })
    for (const cardId of ['', '.', '..', undefined as never, 7 as never])
      await t.rejects(client.call(user.cardsRead, { params: { cardId } }), TypeError)
    t.same(host.requests, [])
  })

  t.test('returns the text of an export', async t => {
    const host = scriptedHost(new Response('id\r\n1\r\n', { headers: { 'content-type': 'text/csv' } }))
    const client = createClient({ ...host.options, credential: token })
    t.equal((await client.call(user.transactionsExport, { query: {} })).data, 'id\r\n1\r\n')
  })

  t.test('says which credential an operation needs', async t => {
    const host = scriptedHost()
    const none = createClient(host.options)
    await t.rejects(none.call(user.balancesRead), /needs a credential/)
    await t.rejects(
      none.call(partner.usersResolve, { body: { userId: 'u' } }),
      /userKey or credential.partnerKey/,
    )
    const noUser = createClient({ ...host.options, credential: { partnerKey: 'pk' } })
    await t.rejects(noUser.call(partner.balancesRead), /credential.session, which names the user/)
    t.same(host.requests, [])
  })
})

t.test('errors', async t => {
  t.test('have the members of their code', async t => {
    const blocked = { rule: 'dailySpendCapCents', remaining: 40, resetsAt: '2026-11-28T00:00:00.000Z' }
    const host = scriptedHost(
      problem(403, 'policy_blocked', { ...blocked, docs: 'https://docs' }, { 'x-request-id': 'r2' }),
      problem(403, 'insufficient_scope', { scope: 'payments.write' }),
      new Response(JSON.stringify({ code: 'invalid_request', message: 'No.', field: 'to' }), {
        status: 400,
        headers: { 'content-type': 'application/problem+json' },
      }),
    )
    const client = createClient({ ...host.options, credential: token })
    const first = await problemOf(client.call(user.depositsCreate, deposit))
    // Each member is there only after its code is known.
    t.equal(first.code === 'policy_blocked' && first.rule, 'dailySpendCapCents')
    t.match(first, { status: 403, message: 'No.', ...blocked, requestId: 'r2', docs: 'https://docs' })
    const second = await problemOf(client.call(user.depositsCreate, deposit))
    t.equal(second.code === 'insufficient_scope' && second.scope, 'payments.write')
    t.match(await problemOf(client.call(user.depositsCreate, deposit)), {
      code: 'invalid_request',
      field: 'to',
    })
    t.equal(host.requests.length, 3, 'none is repeated')
  })

  t.test('of other servers and later versions are unrecognized', async t => {
    const html = { 'content-type': 'text/html' }
    const host = scriptedHost(
      new Response('<h1>Sign in</h1>', { headers: html }),
      new Response('{', { headers: { 'content-type': 'application/json' } }),
      problem(418, 'teapot'),
      problem(400, 'toString'),
      new Response(null, { status: 302, headers: { location: 'https://elsewhere.example' } }),
    )
    const client = createClient({ ...host.options, credential: token })
    for (const status of [200, 200, 418, 400, 302])
      t.match(await problemOf(client.call(user.balancesRead)), { code: 'unrecognized_response', status })
    t.same(
      new Set(host.requests.map(({ redirect }) => redirect)),
      new Set(['manual']),
      'no redirect is followed',
    )
  })

  t.test('never contain a credential', async t => {
    const host = scriptedHost(problem(403, 'key_held'), problem(403, 'key_held'))
    const client = createClient({ ...host.options, credential: { userKey: 'gw_secret' } })
    const error: unknown = await client.call(user.balancesRead).catch((error: unknown) => error)
    t.notMatch(JSON.stringify(error) + String(error) + String((error as Error).stack), /gw_secret/)
  })
})

t.test('retries', async t => {
  const { random } = Math
  t.beforeEach(() => {
    Math.random = () => 0.5
  })
  t.afterEach(() => {
    Math.random = random
  })

  t.test(
    'keep the idempotency key and the body, wait at least Retry-After, and a random time more',
    async t => {
      const host = scriptedHost(
        problem(503, 'service_unavailable', {}, { 'retry-after': '2' }),
        new TypeError('socket hang up'),
        success({ deposit: { id: 'd' } }),
      )
      const client = createClient({ ...host.options, credential: token })
      await client.call(user.depositsCreate, deposit)
      t.equal(new Set(host.requests.map(({ headers }) => headers.get('idempotency-key'))).size, 1)
      t.same(
        host.requests.map(({ body }) => body),
        [deposit.body, deposit.body, deposit.body],
      )
      t.same(host.waits, [2000 + 250, 500])
    },
  )

  t.test('read a date in Retry-After by the clock of the client', async t => {
    const host = scriptedHost()
    const at = new Date(host.options.clock.now() + 3000).toUTCString()
    const later = scriptedHost(problem(429, 'rate_limited', {}, { 'retry-after': at }), success(balances))
    await createClient({ ...later.options, credential: token }).call(user.balancesRead)
    t.same(later.waits, [3250])
  })

  const writes: readonly (readonly [title: string, first: () => Response | Error, sent: number])[] = [
    ['a 429, whatever the operation', () => problem(429, 'rate_limited', {}, { 'retry-after': '1' }), 2],
    ['no 503 without a key', () => problem(503, 'service_unavailable', {}, { 'retry-after': '1' }), 1],
    ['no lost response without a key', () => new TypeError('socket hang up'), 1],
  ]
  for (const [title, first, sent] of writes) {
    t.test(`repeat ${title}`, async t => {
      const host = scriptedHost(first(), success({ userApiKey: 'k' }))
      const client = createClient({ ...host.options, credential: token })
      await client.call(user.keysCreate, { body: {} }).catch(() => {})
      t.equal(host.requests.length, sent)
    })
  }

  const problems: readonly (readonly [status: number, code: string, sent: number])[] = [
    [429, 'request_in_progress', 2],
    [503, 'outcome_unknown', 1],
    [500, 'internal_error', 1],
    [502, 'bad gateway', 2],
    [503, 'proxy', 2],
    [504, 'proxy', 2],
    [501, 'proxy', 1],
    [409, 'invalid_state', 1],
  ]
  for (const [status, code, sent] of problems) {
    t.test(`send a keyed write ${sent === 2 ? 'again' : 'once'} after ${status} ${code}`, async t => {
      const host = scriptedHost(problem(status, code), success({}))
      const client = createClient({ ...host.options, credential: token })
      await client.call(user.depositsCreate, deposit).catch(() => {})
      t.equal(host.requests.length, sent)
    })
  }

  t.test('end after their number, with the key of the write', async t => {
    const lost = new TypeError('socket hang up')
    for (const [retries, sent] of [
      [undefined, 3],
      [0, 1],
      [1, 2],
    ] as const) {
      const host = scriptedHost(lost, lost, lost, lost)
      const client = createClient({
        ...host.options,
        credential: token,
        ...(retries === undefined ? {} : { retries }),
      })
      const found = await problemOf(
        client.call(user.depositsCreate, { ...deposit, idempotencyKey: 'my-own-key' }),
      )
      t.match(found, { code: 'no_response', status: 0, message: /socket hang up/, key: 'my-own-key' })
      t.equal(host.requests.length, sent)
    }
  })

  t.test('wait a random time of at most 8 seconds, which doubles from half a second on', async t => {
    const host = scriptedHost(...Array.from({ length: 11 }, () => new TypeError('socket hang up')))
    await problemOf(createClient({ ...host.options, credential: token, retries: 10 }).call(user.balancesRead))
    t.same(host.waits, [250, 500, 1000, 2000, 4000, 4000, 4000, 4000, 4000, 4000])
  })

  t.test('do not wait for a Retry-After over the bound', async t => {
    for (const [seconds, sent] of [
      [30, 2],
      [31, 1],
    ] as const) {
      const host = scriptedHost(
        problem(429, 'rate_limited', {}, { 'retry-after': String(seconds) }),
        success(balances),
      )
      const call = createClient({ ...host.options, credential: token }).call(user.balancesRead)
      if (sent === 2) await call
      else t.match(await problemOf(call), { code: 'rate_limited', retryAfterSeconds: 31 })
      t.equal(host.requests.length, sent)
    }
  })

  t.test('end with the reason of the signal, while a request runs and while it waits', async t => {
    const controller = new AbortController()
    const reason = new Error('left the page')
    const host = scriptedHost((_, signal) => {
      controller.abort(reason)
      throw signal.reason
    })
    const client = createClient({ ...host.options, credential: token, retries: 0 })
    const call = client.call(user.balancesRead, { signal: controller.signal })
    t.equal(await call.catch((error: unknown) => error), reason)
    const waiting = new AbortController()
    const busy = scriptedHost(() => {
      waiting.abort(reason)
      return problem(429, 'rate_limited', {}, { 'retry-after': '1' })
    })
    await t.rejects(
      createClient({ ...busy.options, credential: token }).call(user.balancesRead, {
        signal: waiting.signal,
      }),
      reason,
    )
    t.equal(busy.requests.length, 1)
  })

  t.test('take an attempt that is over its time for one without a response', async t => {
    const host = scriptedHost(
      (_, signal) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      success(balances),
    )
    // A timer of an `AbortSignal` keeps no process alive.
    const alive = setInterval(() => {}, 1000)
    await createClient({ ...host.options, credential: token, timeoutMs: 1 }).call(user.balancesRead)
    clearInterval(alive)
    t.equal(host.requests.length, 2)
  })
})

t.test('sessions', async t => {
  const credential = { userKey: 'gw_key', session: { scopes: ['balances.read'] } }

  t.test('come from one exchange for callers at the same time', async t => {
    const host = scriptedHost(session('t1'), success(balances), success(balances), success(balances))
    const client = createClient({ ...host.options, credential })
    await Promise.all([1, 2, 3].map(() => client.call(user.balancesRead)))
    t.same(paths(host), ['POST /user/v1/sessions', ...Array<string>(3).fill('GET /user/v1/balances')])
    const [exchange, ...reads] = host.requests
    t.equal(exchange?.headers.get('x-user-key'), 'gw_key')
    t.same(exchange?.body, { ttlSeconds: 900, scopes: ['balances.read'] })
    for (const { headers } of reads) {
      t.equal(headers.get('authorization'), 'Bearer t1')
      t.equal(headers.get('x-user-key'), null, 'the key goes to the exchange only')
    }
  })

  t.test('are replaced 30 seconds before their end, or a quarter of a short life', async t => {
    for (const [ttlSeconds, margin] of [
      [900, 30_000],
      [60, 15_000],
    ] as const) {
      const host = scriptedHost(
        session('t1'),
        success(balances),
        success(balances),
        session('t2'),
        success(balances),
      )
      const client = createClient({ ...host.options, credential: { userKey: 'k', session: { ttlSeconds } } })
      await client.call(user.balancesRead)
      host.pass(ttlSeconds * 1000 - margin - 1)
      await client.call(user.balancesRead)
      host.pass(1)
      await client.call(user.balancesRead)
      t.same(
        host.requests.map(({ headers }) => headers.get('authorization')),
        [null, 'Bearer t1', 'Bearer t1', null, 'Bearer t2'],
      )
    }
  })

  t.test('are replaced once when the host denies them, by one exchange, whatever the operation', async t => {
    const host = scriptedHost(
      session('t1'),
      problem(401, 'session_expired'),
      problem(401, 'unauthorized'),
      session('t2'),
      success({ userApiKey: 'k' }),
      success(balances),
    )
    const client = createClient({ ...host.options, credential })
    await Promise.all([client.call(user.keysCreate, { body: {} }), client.call(user.balancesRead)])
    t.equal(paths(host).filter(path => path === 'POST /user/v1/sessions').length, 2)
  })

  t.test('are not replaced a second time in a call, nor by a client of a token', async t => {
    const denied = (): Response => problem(401, 'unauthorized')
    const host = scriptedHost(session('t1'), denied(), session('t2'), denied())
    const client = createClient({ ...host.options, credential })
    t.match(await problemOf(client.call(user.balancesRead)), { code: 'unauthorized' })
    t.equal(host.requests.length, 4)
    const fixed = scriptedHost(denied())
    await problemOf(createClient({ ...fixed.options, credential: token }).call(user.balancesRead))
    t.equal(fixed.requests.length, 1)
  })

  t.test(
    'of an exchange that fails: each waiting caller gets its problem, the next one tries again',
    async t => {
      const denied = problem(401, 'unauthorized')
      const host = scriptedHost(denied, session('t1'), success(balances))
      const client = createClient({ ...host.options, credential })
      const found = await Promise.all([1, 2].map(() => problemOf(client.call(user.balancesRead))))
      t.match(found, [{ code: 'unauthorized' }, { code: 'unauthorized' }])
      t.equal(host.requests.length, 1)
      await client.call(user.balancesRead)
    },
  )

  t.test('of an exchange without a token', async t => {
    const host = scriptedHost(success({}), success({}))
    const client = createClient({ ...host.options, credential })
    t.match(await problemOf(client.call(user.balancesRead)), { code: 'unrecognized_response', status: 200 })
  })

  t.test('let one caller leave while the others wait', async t => {
    const controller = new AbortController()
    let respond = (): void => {}
    const exchanged = new Promise<Response>(resolve => (respond = () => resolve(session('t1'))))
    const host = scriptedHost(() => exchanged, success(balances))
    const client = createClient({ ...host.options, credential })
    const leaver = client.call(user.balancesRead, { signal: controller.signal })
    const other = client.call(user.balancesRead)
    controller.abort(new Error('left'))
    await t.rejects(leaver, new Error('left'))
    respond()
    await other
    t.equal(host.requests.length, 2)
  })

  t.test('of a partner are for a user, and the key itself is for operations of the partner', async t => {
    const host = scriptedHost(
      success({ userId: 'u' }),
      session('t1'),
      success({ cards: [], nextCursor: null }),
    )
    const client = createClient({
      ...host.options,
      credential: { partnerKey: 'pk', session: { userId: 'u', scopes: ['cards.read'] } },
    })
    await client.call(partner.usersResolve, { body: { userId: 'u' } })
    await client.call(partner.cardsList)
    t.same(paths(host), [
      'POST /partner/v1/users/resolve',
      'POST /partner/v1/sessions',
      'GET /partner/v1/cards',
    ])
    t.equal(host.requests[0]?.headers.get('x-partner-key'), 'pk')
    t.same(host.requests[1]?.body, { ttlSeconds: 900, userId: 'u', scopes: ['cards.read'] })
  })

  t.test('are not used where the operation takes the key', async t => {
    const host = scriptedHost(success({ userApiKey: 'next' }))
    const client = createClient({ ...host.options, credential })
    await client.call(user.keysRotate, { params: { keyId: 'k' }, body: {} })
    t.equal(host.requests[0]?.headers.get('x-user-key'), 'gw_key')
  })
})

t.test('items', async t => {
  const page = (ids: readonly string[], nextCursor: string | null): Response =>
    success({ transactions: ids.map(id => ({ id })), nextCursor })

  t.test('come from each page when the one before it is used up', async t => {
    const host = scriptedHost(page(['a', 'b'], 'c1'), page([], 'c2'), page(['c'], null))
    const client = createClient({ ...host.options, credential: token })
    const seen: string[] = []
    for await (const { id } of client.items(user.transactionsList, { query: { limit: 2 } })) {
      seen.push(`${id} of ${host.requests.length}`)
    }
    t.same(seen, ['a of 1', 'b of 1', 'c of 3'])
    t.same(paths(host), [
      'GET /user/v1/transactions?limit=2',
      'GET /user/v1/transactions?limit=2&cursor=c1',
      'GET /user/v1/transactions?limit=2&cursor=c2',
    ])
  })

  t.test('end where the loop is left, and with an error at a cursor that comes again', async t => {
    const host = scriptedHost(page(['a', 'b'], 'c1'))
    const client = createClient({ ...host.options, credential: token })
    for await (const { id } of client.items(user.transactionsList)) if (id === 'a') break
    t.equal(host.requests.length, 1)
    for (const cursors of [
      ['c1', 'c1'],
      ['c1', 'c2', 'c1'],
      ['c1', 'c2', 'c3', 'c2'],
    ]) {
      const endless = scriptedHost(...cursors.map(cursor => page([cursor], cursor)))
      const client = createClient({ ...endless.options, credential: token })
      const seen: string[] = []
      const all = async (): Promise<void> => {
        for await (const { id } of client.items(user.transactionsList)) seen.push(id)
      }
      t.match(await problemOf(all()), {
        code: 'unrecognized_response',
        status: 200,
        message: 'The host returned the cursor of an earlier page again',
      })
      t.same(seen, cursors)
    }
  })
})

t.test('options', async t => {
  const wrong: readonly (readonly [given: object, message: RegExp])[] = [
    [{ url: 'ftp://x' }, /url must be/],
    [{ url: 'nothing' }, /url must be/],
    [{ url: 'https://user:secret@x' }, /url must be/],
    [{ url: 'https://x?y=1' }, /url must be/],
    [{ retries: -1 }, /retries must be an integer from 0 to 10, got -1/],
    [{ retries: 11 }, /retries/],
    [{ retries: 1.5 }, /retries/],
    [{ maxRetryAfterSeconds: 3601 }, /maxRetryAfterSeconds/],
    [{ timeoutMs: 0 }, /timeoutMs/],
    [{ timeoutMs: 600_001 }, /timeoutMs/],
    [{ retires: 1 }, /unknown option "retires"/],
    [{ credential: { key: 'x' } }, /unknown option "key"/],
    [{ credential: { token: 'x', userKey: 'y' } }, /one of userKey, partnerKey and token/],
  ]
  for (const [given, message] of wrong)
    t.throws(() => createClient({ url: 'https://x', ...given }), {
      name: 'TypeError',
      message,
    })
  createClient({ url: 'http://x', retries: 10, maxRetryAfterSeconds: 3600, timeoutMs: 600_000 })
  t.end()
})

t.test('types', async t => {
  const host = scriptedHost()
  const client = createClient({ ...host.options, credential: token })
  // None of these is run: each line below must not compile.
  const wrong = [
    // @ts-expect-error The body is required.
    () => client.call(user.paymentsCreate),
    // @ts-expect-error An amount is a number.
    () => client.call(user.paymentsCreate, { body: { to: { walletAddress: '0x' }, amountCents: '5' } }),
    // @ts-expect-error A misspelt member.
    () => client.call(user.paymentsCreate, { body: { to: { walletAddress: '0x' }, amountCent: 5 } }),
    // @ts-expect-error A misspelt member of a policy.
    () => client.call(user.keysCreate, { body: { policy: { maxAuthAmountCent: 5 } } }),
    // @ts-expect-error Only a list has items.
    () => client.items(user.balancesRead),
    // @ts-expect-error An old name.
    () => (user as { readonly keysCreate2: unknown; readonly keysCreate: unknown }).keysCreate3,
    // @ts-expect-error `data` has the members of the operation.
    async () => (await client.call(user.balancesRead)).data.cards,
  ]
  t.equal(wrong.length, 7)
  t.same(reply(200, {}).status, 200)
})
