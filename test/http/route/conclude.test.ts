// How a request ends: what is sent, reported and emitted.
import { manualTime } from './manual-time.ts'
import { allow, Fault, scopeCatalogue, type Denial } from '@gatewright/kernel'
import { gate, type Decision } from '@gatewright/http'
import type { AliasPort } from '#packages/http/dist/ports.js'
import type { Failure, OpenGateOptions } from '#packages/http/dist/options.js'
import { fetchGate } from '@gatewright/http/fetch'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import t from 'tap'
import { bench } from '../../scope-guard/issuer.ts'

const request = (headers: Record<string, string> = {}): Request =>
  new Request('http://api.test/x', { headers })
const DENIAL: Denial = { ok: false, code: 'unauthorized', status: 401, message: 'no', reason: 'the cause' }

/** A gate with one open operation, and what it reports and emits. */
function setUp(options: OpenGateOptions = {}) {
  const failures: Failure[] = []
  const decisions: Decision[] = []
  const api = gate({
    report: failure => failures.push(failure),
    observe: decision => decisions.push(decision),
    ...options,
  })
  const bind = fetchGate(api, { body: 'stream', peer: 'none' })
  const served = bind.handle(api.open('plans.list'), ({ facts }) => {
    const kind = facts.header('x-kind')
    if (kind === 'fault') throw new Fault('ERR_STORE_UNAVAILABLE', 'down')
    return kind === 'denial' ? DENIAL : { status: 200, body: 'ok' }
  })
  return { api, bind, failures, decisions, send: (kind: string) => served(request({ 'x-kind': kind })) }
}

/** An alias port that returns this for each request. */
const aliasPort = (resolved: () => unknown, fields?: AliasPort['responseHeaders']): AliasPort => ({
  resolve: resolved as AliasPort['resolve'],
  ...(fields ? { responseHeaders: fields } : {}),
})
const name = (id: string) => ({ alias: { id } })

t.test('reports failures and nothing else, by operation, or by method and path without one', async t => {
  const { send, failures, decisions } = setUp()
  for (const kind of ['response', 'denial', 'fault']) await send(kind)
  t.match(failures, [{ operation: 'plans.list', error: { message: 'down' } }])
  t.equal(failures.length, 1)
  t.match(decisions, [
    { status: 200, code: undefined, failure: undefined },
    { status: 401, code: 'unauthorized', reason: 'the cause', failure: undefined },
    { status: 503, code: 'service_unavailable', failure: { message: 'down' } },
  ])
  const broken = setUp({
    aliases: aliasPort(() => {
      throw new Error('no table')
    }),
  })
  t.equal((await broken.send('response')).status, 500)
  t.match(broken.failures, [{ operation: 'GET /x', error: { message: 'no table' } }])
  t.match(broken.decisions, [{ operation: undefined, status: 500, code: 'internal_error' }])
})

t.test('sends a plain 500 if an outcome cannot be rendered, and reports why', async t => {
  const { send, failures, decisions } = setUp({
    render: () => {
      throw new Error('cannot render')
    },
  })
  const response = await send('response')
  t.equal(response.status, 500)
  t.match(await response.json(), { error: 'internal_error' })
  t.match(failures, [{ operation: 'plans.list', error: { message: 'cannot render' } }])
  t.match(decisions, [{ status: 500, code: 'internal_error', failure: { message: 'cannot render' } }])
})

t.test('adds the URL of the metadata to a denial, and not to other outcomes', async t => {
  const { send } = setUp({
    protectedResource: { resource: 'https://api.test', authorizationServers: ['https://issuer.test'] },
  })
  const challenge = (await send('denial')).headers.get('www-authenticate')
  t.match(challenge, 'resource_metadata="https://api.test/.well-known/oauth-protected-resource"')
  for (const kind of ['response', 'fault'])
    t.notMatch((await send(kind)).headers.get('www-authenticate') ?? '', /resource_metadata/)
  t.notMatch((await setUp().send('denial')).headers.get('www-authenticate') ?? '', /resource_metadata/)
})

t.test('emits the event of a response that the framework sent, once', async t => {
  const { api, bind, decisions } = setUp()
  const served = bind.wrap(api.open('plans.list'), () => new Response(null, { status: 202 }))
  await served(request(), undefined)
  t.match(decisions, [{ operation: 'plans.list', status: 202 }])
  const entered = api.enter({}, () => ({
    method: 'GET',
    path: '/y',
    query: new URLSearchParams(),
    search: '',
    header: () => undefined,
    address: '',
    secure: true,
  }))
  if (!entered.ok) throw new Error('denied')
  for (const status of [200, 500]) api.sent(entered.value, status)
  t.match(decisions.slice(1), [{ status: 200 }])
  t.equal(decisions.length, 2)
})

t.test('prints the cause of a denial that the gate sends', async t => {
  const written = t.capture(process.stderr, 'write', () => true)
  const { send } = setUp()
  for (const kind of ['response', 'denial', 'fault']) await send(kind)
  t.same(
    written().map(({ args }) => args[0] as string),
    [
      'gatewright: plans.list got 401 unauthorized: the cause https://github.com/gatewright/gatewright/blob/main/docs/401.md#the-cause (logged once)\n',
    ],
  )
})

t.test('the event says how long the request, the guard, the handler and the store took', async t => {
  const pass = manualTime(t)
  const decisions: Decision[] = []
  const { guard, bearer } = await bench()
  const inner = createIdempotency({ storage: memoryIdempotency() })
  const api = gate({
    guard: {
      ...guard,
      check: async (...args: Parameters<typeof guard.check>) => {
        pass(2)
        return guard.check(...args)
      },
    },
    scopes: scopeCatalogue(['cards.write']),
    idempotency: {
      ...inner,
      begin: async facts => {
        pass(10)
        return inner.begin(facts)
      },
      complete: async (...args) => {
        pass(20)
        return inner.complete(...(args as Parameters<typeof inner.complete>))
      },
    },
    aliases: aliasPort(() => {
      pass(1)
      return allow({ path: '/x', headers: {}, responseHeaders: [] })
    }),
    observe: decision => decisions.push(decision),
  })
  const admit = async () => {
    pass(4)
    return allow([])
  }
  const rule = { operation: 'cards.create', allOf: ['cards.write'] } as const
  const served = fetchGate(api, { body: 'stream', peer: 'none' }).handle(
    api.idempotent(rule, { admit }),
    () => {
      pass(40)
      return { status: 201 }
    },
  )
  const write = async (headers: Record<string, string>): Promise<number> =>
    (await served(new Request('http://api.test/x', { method: 'POST', headers, body: '{}' }), undefined))
      .status
  const headers = {
    authorization: await bearer(),
    'content-type': 'application/json',
    'idempotency-key': 'key-00000001',
  }
  t.equal(await write({}), 401)
  for (const _ of [1, 2]) t.equal(await write(headers), 201)
  t.match(decisions, [
    { durationMs: 3, guardMs: 2, handlerMs: 0, storeMs: 0 },
    { durationMs: 77, guardMs: 6, handlerMs: 40, storeMs: 30, replayed: false },
    { durationMs: 17, guardMs: 6, handlerMs: 0, storeMs: 10, replayed: true },
  ])
})

t.test('lists each old name of a request once, also of a denied one, and sends their fields', async t => {
  const fields = (used: readonly { alias: { id: string } }[]) => [
    ['X-Old', used.map(({ alias }) => alias.id).join()],
  ]
  for (const [used, aliases, sent] of [
    [undefined, [], null],
    [[], [], null],
    [[name('a')], ['a'], 'a'],
    [[name('a'), name('b'), name('a')], ['a', 'b'], 'a,b,a'],
  ] as const) {
    for (const port of [
      aliasPort(() => allow({ path: '/y', headers: {}, used, responseHeaders: [] }), fields as never),
      aliasPort(() => ({ ...DENIAL, used }), fields as never),
    ]) {
      const { send, decisions } = setUp({ aliases: port })
      const response = await send('response')
      t.same(decisions[0]?.aliases, aliases)
      t.equal(response.headers.get('x-old'), sent)
    }
  }
  const { send } = setUp({
    aliases: aliasPort(() =>
      allow({ path: '/y', headers: {}, used: [name('a')], responseHeaders: [['X-Old', 'its own']] }),
    ),
  })
  t.equal((await send('response')).headers.get('x-old'), 'its own', 'of a port without responseHeaders')
})

t.test('gives a request one id, under old and current names', async t => {
  const table = aliasPort(() => allow({ path: '/y', headers: {}, responseHeaders: [] }))
  for (const aliases of [undefined, table]) {
    const ids: string[] = []
    const { send, decisions } = setUp({
      ...(aliases ? { aliases } : {}),
      render: (_outcome, { requestId }) => {
        ids.push(requestId)
        return { status: 200, headers: [], body: '' }
      },
    })
    for (const _ of [1, 2]) await send('response')
    t.match(ids[0], /^[0-9a-f-]{36}$/)
    t.not(ids[0], ids[1])
    t.same(
      decisions.map(({ requestId }) => requestId),
      ids,
    )
  }
})

t.test('exposes its fields to requests with Origin if the gate has the option', async t => {
  for (const exposeHeaders of [true, false]) {
    for (const headers of [{}, { origin: 'https://app.test' }]) {
      const { api, bind } = setUp({ exposeHeaders })
      const served = bind.handle(api.open('plans.list'), () => ({ status: 200 }))
      const exposed = (await served(request(headers))).headers.get('access-control-expose-headers')
      t.equal(exposed !== null, exposeHeaders && 'origin' in headers)
    }
  }
})

t.test('closes connections after drain, and not before', async t => {
  const { api, send } = setUp()
  t.equal((await send('response')).headers.get('connection'), null)
  api.drain()
  for (const kind of ['response', 'denial', 'fault'])
    t.equal((await send(kind)).headers.get('connection'), 'close', kind)
})

t.test(
  'denies plain HTTP only if HTTPS is required, and a target that does not begin with a slash',
  async t => {
    for (const [requireHttps, secure, path, code] of [
      [true, true, '/x', undefined],
      [true, false, '/x', 'https_required'],
      [false, false, '/x', undefined],
      [false, true, '/x', undefined],
      [false, true, '*', 'invalid_request'],
    ] as const) {
      const { api } = setUp({ requireHttps })
      const entered = api.enter({}, () => ({
        method: 'GET',
        path,
        query: new URLSearchParams(),
        search: '',
        header: () => undefined,
        address: '',
        secure,
      }))
      t.equal(entered.ok, code === undefined)
      if (!entered.ok) t.match(JSON.parse(entered.response.body), { error: code })
    }
  },
)
