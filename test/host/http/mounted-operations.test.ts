// What the host asks of guard and limits before an operation runs, and how it renders what the operation returns.
import { allow } from '@gatewright/kernel'
import t from 'tap'
import { KEY, sample, SUCCESS, serveOperations } from './serve-operations.ts'

const serve = (...of: Parameters<typeof serveOperations> extends [unknown, ...infer Rest] ? Rest : never) =>
  serveOperations(t, ...of)

t.test('gives the guard a rule with what the operation declares, and nothing else', async t => {
  const allOf = ['cards.read']
  for (const [change, rule] of [
    [{ scopes: allOf }, { operation: 'things.get', allOf, surface: 'user' }],
    [
      { scopes: undefined, credential: 'session-or-web-token' },
      { operation: 'things.get', allOf: [], surface: 'user' },
    ],
    [{ surface: 'public' }, { operation: 'things.get', allOf: [] }],
    [{ anyOf: allOf }, { operation: 'things.get', allOf: [], anyOf: allOf, surface: 'user' }],
    [{ cardSecrets: true }, { operation: 'things.get', allOf: [], cardSecrets: true, surface: 'user' }],
    [{ cardSecrets: false }, { operation: 'things.get', allOf: [], surface: 'user' }],
    [{ method: 'POST' }, { operation: 'things.get', allOf: [], surface: 'user', limit: 'write' }],
    [
      { method: 'DELETE', limit: 'ending' },
      { operation: 'things.get', allOf: [], surface: 'user', limit: 'ending' },
    ],
    [
      { method: 'POST', limit: 'mint' },
      { operation: 'things.get', allOf: [], surface: 'user', limit: 'write' },
    ],
  ] as const) {
    const operation = sample(change)
    const { send, rules } = await serve([operation])
    const { method } = operation
    t.equal(
      (await send('/user/v1/things', { method, ...(method === 'POST' ? { body: '{}' } : {}) })).status,
      200,
    )
    t.strictSame(rules, [rule])
  }
})

t.test('takes from the bucket that the operation and its caller name', async t => {
  const user = { 'x-user-key': 'gw_a' }
  const web = { authorization: 'Bearer a.b' }
  const NETWORK = '2001:db8:1:2::'
  for (const [change, headers, taken, options] of [
    [{ credential: 'none', limit: 'none' }, {}, [], {}],
    [{ credential: 'none', limit: 'bootstrap' }, {}, [`bootstrap ${NETWORK}`], {}],
    [{ credential: 'none', limit: 'token-check' }, {}, [`tokenCheck ${NETWORK}`], {}],
    [{ credential: 'none', limit: 'document' }, {}, [`document things.get ${NETWORK}`], {}],
    [{}, {}, [], {}],
    [{ credential: 'user-key', limit: 'mint' }, user, ['mint lin_1', 'mintOfAccount root acc_1'], {}],
    [
      { credential: 'user-key', limit: 'mint' },
      user,
      ['mint lin_1', 'mintOfAccount below acc_1'],
      { key: { ...KEY, ancestry: ['key_0'] } },
    ],
    [
      { credential: 'user-key', limit: 'mint' },
      user,
      ['mint lin_1'],
      { key: { ...KEY, surface: 'partner' } },
    ],
    [{ credential: 'user-key', limit: 'mint' }, user, ['mint lin_1'], { full: 'mint' }],
    [{ credential: 'user-key' }, user, [], {}],
    [{ limit: 'mint' }, {}, ['mint key_s', 'mintOfAccount below acc_1'], {}],
    [{ credential: 'session-or-web-token' }, web, [`tokenCheck ${NETWORK}`], {}],
    [{ credential: 'web-token', limit: 'mint' }, web, [`tokenCheck ${NETWORK}`], {}],
  ] as const) {
    const { send, buckets } = await serve([sample(change)], options)
    await send('/user/v1/things', { headers })
    t.same(
      buckets.map(bucket => bucket.replace(/\/64$/, '')),
      taken,
      JSON.stringify(change),
    )
  }
})

t.test('denies what is over a limit, and sends the state of the limit otherwise', async t => {
  const table = [sample({ credential: 'user-key', limit: 'mint', paths: ['/user/v1/things/{id}'] })]
  const headers = { 'x-user-key': 'gw_a' }
  for (const full of ['mint', 'mintOfAccount']) {
    const { send } = await serve(table, { full })
    t.equal((await send('/user/v1/things/a', { headers })).status, 429, full)
  }
  const { send } = await serve(table)
  const found = await send('/user/v1/things/a', { headers })
  t.equal(found.status, 200)
  t.equal(found.headers.get('ratelimit'), 'mint')
  const missing = await send(`/user/v1/things/${'x'.repeat(121)}`, { headers })
  t.match(missing, { status: 404, body: { error: 'not_found' } })
  t.equal(missing.headers.get('ratelimit'), 'mint')
})

t.test('denies plain HTTP if HTTPS is required, except for its own documents', async t => {
  const document = {
    document: true,
    limit: 'none',
    credential: 'none',
    handle: async () => allow({ document: {}, headers: [] }),
  }
  const provider = {
    ...document,
    credential: 'provider',
    method: 'POST',
    handle: async () => SUCCESS,
    document: undefined,
  }
  for (const [change, plain] of [
    [{ credential: 'none', limit: 'none' }, 403],
    [document, 200],
    [provider, 403],
    [{ ...provider, document: true }, 403],
  ] as const) {
    const operation = sample(change)
    const { send } = await serve([operation], { requireHttps: true })
    const sent = { method: operation.method, ...(operation.method === 'POST' ? { body: '{}' } : {}) }
    t.equal((await send('/user/v1/things', sent)).status, plain)
    const headers = { 'x-forwarded-proto': 'https' }
    t.equal((await send('/user/v1/things', { ...sent, headers })).status, 200)
  }
})

t.test('renders a success in the envelope, and a document as it is', async t => {
  const success = { data: { a: 1 }, summary: 'Done.' }
  const common = { credential: 'none', limit: 'none' }
  const table = [
    sample({ ...common, id: 'things.a', paths: ['/user/v1/a'] }),
    sample({ ...common, id: 'things.b', paths: ['/user/v1/b'], topLevel: true }),
    sample({
      ...common,
      id: 'things.c',
      paths: ['/user/v1/c'],
      handle: async () => allow({ ...success, next: 'POST', status: 202 }),
    }),
    sample({
      ...common,
      id: 'things.d',
      paths: ['/user/v1/d'],
      document: true,
      handle: async () => allow({ document: 'text', headers: [['Cache-Control', 'a']] }),
    }),
  ]
  const { send } = await serve(table)
  const enveloped = { ok: true, data: { a: 1 }, summary: 'Done.', errors: [] }
  t.strictSame((await send('/user/v1/a')).body, enveloped)
  t.match(await send('/user/v1/a?extra=1'), {
    status: 400,
    body: { error: 'invalid_request', field: 'extra' },
  })
  t.strictSame((await send('/user/v1/b')).body, { ...enveloped, a: 1 })
  const next = await send('/user/v1/c')
  t.equal(next.status, 202)
  t.strictSame(next.body, { ...enveloped, next: 'POST' })
  const document = await send('/user/v1/d')
  t.equal(document.text, 'text')
  t.equal(document.headers.get('cache-control'), 'a', 'its own in place of the common one')
  t.equal(document.headers.get('x-content-type-options'), 'nosniff')
  t.match(document.headers.get('x-request-id'), /^[0-9a-f-]{36}$/)
  t.equal((await send('/user/v1/a')).headers.get('cache-control'), 'no-store')
})

t.test('renders errors in the shape of the surface, also without an operation', async t => {
  const common = { credential: 'none', limit: 'none' }
  const denial = { ok: false, code: 'not_found', status: 404, message: 'none' }
  const table = [
    sample({ ...common, handle: async () => denial }),
    sample({ ...common, surface: 'partner', paths: ['/partner/v1/things'], handle: async () => denial }),
    sample({
      ...common,
      id: 'things.only',
      surface: 'partner',
      paths: ['/elsewhere'],
      handle: async () => denial,
    }),
    sample({
      ...common,
      id: 'things.boom',
      paths: ['/user/v1/boom'],
      handle: async () => Promise.reject(new Error('a')),
    }),
  ]
  const { send } = await serve(table)
  for (const path of ['/user/v1/things', '/user/v1/none'])
    t.match((await send(path)).body, { error: 'not_found' }, path)
  for (const path of ['/partner/v1/things', '/elsewhere', '/partner/none', '/users/resolve'])
    t.match((await send(path)).body, { errors: [{ code: 'not_found' }] }, path)
  t.match(await send('/user/v1/boom'), { status: 500, body: { error: 'internal_error' } })
  const wrapped = { 'x-open-responses': '1' }
  t.match((await send('/user/v1/things', { headers: wrapped })).body, {
    object: 'response',
    model: 'Acme.user',
    created_at: 1_767_225_600,
  })
  t.match((await send('/partner/v1/things', { headers: wrapped })).body, { model: 'Acme.partner' })
  t.match((await send('/user/v1/none', { headers: wrapped })).body, { error: 'not_found' }, 'no operation')
})

t.test('responds to other methods and paths, to OPTIONS and with pages', async t => {
  const common = { credential: 'none', limit: 'none' }
  const table = [
    sample({ ...common, paths: ['/user/v1/things', '/user/v1/other/{id}'] }),
    sample({ ...common, id: 'things.make', method: 'POST' }),
  ]
  const { send, drain } = await serve(table)
  t.equal((await send('/user/v1/other/7')).status, 200)
  t.match(await send('/user/v1/none'), { status: 404, body: { error: 'not_found' } })
  t.equal((await send('/user/v1/Things')).status, 404, 'paths have one case')
  t.equal((await send('/user/v1/things/')).status, 404)
  const denied = await send('/user/v1/things', { method: 'DELETE' })
  t.match(denied, { status: 405, body: { error: 'method_not_allowed' } })
  t.equal(denied.headers.get('allow'), 'GET, HEAD, POST, OPTIONS')
  const options = await send('/user/v1/other/7', { method: 'OPTIONS' })
  t.equal(options.status, 204)
  t.equal(options.headers.get('allow'), 'GET, HEAD, OPTIONS')
  t.equal((await send('/user/v1/none', { method: 'OPTIONS' })).status, 404)
  const page = await send('/page')
  t.match(page, { status: 405, text: 'page' })
  t.equal(page.headers.get('x-page'), 'a')
  for (const path of ['/page', '/user/v1/things'])
    t.not((await send(path)).headers.get('connection'), 'close', path)
  drain()
  for (const path of ['/page', '/user/v1/things', '/user/v1/none'])
    t.equal((await send(path)).headers.get('connection'), 'close', path)
})

t.test('checks the path and the query after the limit, whatever the limit is', async t => {
  for (const change of [
    { credential: 'none', limit: 'none' },
    { credential: 'none', limit: 'bootstrap' },
    { credential: 'none', limit: 'token-check' },
    { credential: 'none', limit: 'document' },
    { credential: 'session' },
    { credential: 'session', limit: 'mint' },
  ]) {
    const { send } = await serve([
      sample({ ...change, unknownMembers: 'deny', paths: ['/user/v1/things/{id}'] }),
    ])
    const denied = await send('/user/v1/things/a?other=1')
    t.match(
      denied,
      { status: 400, body: { error: 'invalid_request', field: 'other' } },
      change.limit ?? 'none',
    )
    t.match(await send('/user/v1/things/a%20b'), { status: 404, body: { error: 'not_found' } })
    t.equal((await send('/user/v1/things/a')).status, 200)
  }
})

t.test('gives an operation for signed messages the message and its body', async t => {
  const seen: unknown[] = []
  const operation = sample({
    credential: 'provider',
    method: 'POST',
    surface: 'public',
    paths: ['/providers/{name}'],
    limit: 'none',
    body: {
      type: 'object',
      properties: { a: { type: 'object', required: ['b'], properties: { b: { type: 'integer' } } } },
    },
    handle: async ({ caller, body }: { caller: unknown; body: unknown }) => {
      seen.push(caller, body)
      return SUCCESS
    },
  })
  const { send } = await serve([operation])
  const post = (body: string) => send('/providers/acme', { method: 'POST', body })
  t.equal((await post('{"a":{"b":1}}')).status, 200)
  t.same(seen, [{ provider: 'acme', messageId: 'msg_1' }, { a: { b: 1 } }])
  t.match(await post('{"a":{"b":"c"}}'), { status: 400, body: { error: 'invalid_request', field: 'a.b' } })
  t.match(await post('{'), { status: 400, body: { error: 'invalid_request', field: 'body' } })
  t.equal(seen.length, 2)
})
