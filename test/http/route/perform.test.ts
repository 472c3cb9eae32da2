// What the gate reads of a request, and what it takes for a response of a handler.
import { allow, type Denial } from '@gatewright/kernel'
import { gate, type HandlerResponse } from '@gatewright/http'
import type { Failure } from '#packages/http/dist/options.js'
import { fetchGate } from '@gatewright/http/fetch'
import t from 'tap'
import { authorizeUnread, startRun } from '#packages/http/dist/route/perform.js'

type Incoming = Parameters<typeof startRun>[2]

/** A schema that accepts every value. */
const schema = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
} as const

/** A request of a binding, and how often its body was read. */
function incoming(method: string, change: Partial<Incoming> = {}) {
  const seen = { reads: 0 }
  const request: Incoming = {
    request: {},
    params: {},
    facts: () => ({
      method,
      path: '/x',
      query: new URLSearchParams(),
      search: '',
      header: () => undefined,
      address: '',
      secure: true,
    }),
    readBody: async () => {
      seen.reads++
      return allow(Buffer.from('{}'))
    },
    replaceBody: undefined,
    connection: { ended: false, signal: new AbortController().signal },
    ...change,
  }
  return { seen, request }
}

t.test('reads the body for a handler of the gate unless the method is GET or HEAD', async t => {
  const api = gate()
  for (const [method, reads] of [
    ['POST', 1],
    ['DELETE', 1],
    ['GET', 0],
    ['HEAD', 0],
  ] as const) {
    const { seen, request } = incoming(method)
    const started = await startRun(api, api.open('plans.list'), request)
    t.equal(seen.reads, reads, method)
    t.equal(started.ok && Buffer.from(started.value.call.body).toString(), reads === 1 ? '{}' : '')
  }
})

t.test('reads the body for an existing handler only if the route checks or records it', async t => {
  const api = gate()
  for (const [route, reads] of [
    [api.open('plans.list'), 0],
    [api.open('plans.list', { body: schema }), 1],
  ] as const) {
    for (const method of ['GET', 'POST']) {
      const { seen, request } = incoming(method, { replaceBody: () => {} })
      await startRun(api, route as never, request)
      t.equal(seen.reads, reads, method)
    }
  }
})

t.test('denies a coded body before a framework reads it, if the route needs the body', async t => {
  const api = gate()
  const checked = api.open('plans.list', { body: schema })
  for (const [route, coding, status] of [
    [checked, 'gzip', 415],
    [checked, undefined, undefined],
    [api.open('plans.list'), 'gzip', undefined],
  ] as const) {
    const { request } = incoming('POST', { replaceBody: () => {} })
    const facts = { ...request.facts(), header: () => coding }
    const authorized = await authorizeUnread(api, route as never, { ...request, facts: () => facts })
    t.equal(authorized.ok ? undefined : authorized.response.status, status)
  }
})

t.test('the decision event has the pattern of the router if it is a text', async t => {
  for (const [pattern, route] of [
    ['/cards/:id', '/cards/:id'],
    [/cards/, undefined],
    [undefined, undefined],
  ] as const) {
    const seen: unknown[] = []
    const api = gate({ observe: ({ route, handlerMs }) => seen.push({ route, handlerMs }) })
    const started = await startRun(api, api.open('plans.list'), incoming('GET', { pattern }).request)
    if (started.ok)
      await started.value.finish({ kind: 'response', response: { status: 200, headers: [], body: '' } })
    t.same(seen, [{ route, handlerMs: 0 }], 'a handler that did not run took no time')
  }
})

/** Serves a response of a handler. Returns the status, and the message of the failure if there is one. */
async function serve(given: unknown): Promise<{ status: number; message: string | undefined }> {
  const failures: Failure[] = []
  const api = gate({ report: failure => failures.push(failure) })
  const { handle } = fetchGate(api, { body: 'stream', peer: 'none' })
  const served = handle(api.open('plans.list'), () => given as HandlerResponse)
  const { status } = await served(new Request('http://api.test/'), undefined)
  return { status, message: (failures[0]?.error as Error | undefined)?.message }
}

t.test('reports a handler that returns no response, with the operation and what to return', async t => {
  for (const [given, kind] of [
    [undefined, 'nothing: a return is missing'],
    [null, 'null'],
    ['done', 'string'],
    [200, 'number'],
    [() => ({ status: 200 }), 'function'],
    [{}, 'an object without a status'],
    [{ status: '200' }, 'an object without a status'],
    [{ status: 200.5 }, 'an object without a status'],
  ] as const) {
    t.same(await serve(given), {
      status: 500,
      message: `plans.list: the handler must return { status, headers?, body? } or a denial, got ${kind}`,
    })
  }
})

t.test('sends the statuses 200 to 599, and a body with all of them but three', async t => {
  for (const status of [200, 201, 206, 299, 303, 305, 404, 598, 599])
    t.same(await serve({ status, body: { a: 1 } }), { status, message: undefined })
  for (const status of [204, 205, 304]) {
    for (const body of [undefined, '']) t.same(await serve({ status, body }), { status, message: undefined })
    for (const body of [{ a: 1 }, 'text', null, 0]) {
      t.same(await serve({ status, body }), {
        status: 500,
        message: `plans.list: a response with status ${status} must not have a body`,
      })
    }
  }
  for (const status of [199, 600, 0, -1]) {
    t.same(await serve({ status }), {
      status: 500,
      message: `plans.list: the handler's status must be 200 to 599, got ${status}`,
    })
  }
})

t.test('sends header fields that HTTP can carry, and fails for others', async t => {
  for (const field of [
    ['X-A', 'b'],
    ["!#$%&'*+-.^_`|~aZ0", ''],
    ['x', 'a\tb \u0020\u007e\u0080\u00ff'],
  ])
    t.same(await serve({ status: 200, headers: [field] }), { status: 200, message: undefined })
  for (const name of ['', 'a b', 'a:', 'ä', 1, undefined]) {
    const { status, message } = await serve({ status: 200, headers: [[name, 'b']] })
    t.equal(status, 500)
    t.match(message, /^plans\.list: the handler's header names must be HTTP field names, got /)
  }
  for (const value of [undefined, 'a\nb', 'a\rb', 'a\u0000b', '\u001f', '\u007f', '\u0100']) {
    const { status, message } = await serve({ status: 200, headers: [['x', value]] })
    t.equal(status, 500)
    t.equal(message, "plans.list: the handler's header x has a value that cannot be sent")
  }
})

t.test('sends a denial of a handler, and fails for one that cannot be sent', async t => {
  const denial: Denial = { ok: false, code: 'not_found', status: 404, message: 'none' }
  t.same(await serve(denial), { status: 404, message: undefined })
  t.equal((await serve({ ...denial, status: 99 })).status, 500)
  t.equal((await serve({ ...denial, headers: [['x', 'a\nb']] })).status, 500)
})

t.test('sends what a handler resolves to, and a failure for what it throws', async t => {
  t.equal((await serve(Promise.resolve({ status: 201 }))).status, 201)
  t.same(await serve(Promise.reject(new Error('broken'))), { status: 500, message: 'broken' })
})

t.test('refuses to mount an invalid route, or a handler that is not a function', async t => {
  const api = gate()
  const route = api.open('plans.list')
  const { handle, wrap } = fetchGate(api, { body: 'stream', peer: 'none' }) as unknown as Record<
    'handle' | 'wrap',
    (route: unknown, handler?: unknown) => unknown
  >
  for (const mount of [handle, wrap]) {
    for (const invalid of [undefined, null, {}, 'plans.list'])
      t.throws(() => mount(invalid, () => undefined), {
        name: 'TypeError',
        message: `a route must be made by open, guarded, guardedBy, idempotent or transactional of the gate, got ${typeof invalid}`,
      })
    for (const invalid of [undefined, 'text', {}])
      t.throws(() => mount(route, invalid), {
        name: 'TypeError',
        message: `plans.list: the handler must be a function, got ${typeof invalid}`,
      })
    t.type(
      mount(route, () => undefined),
      'function',
    )
  }
  const own = { ...route, run: async () => ({ kind: 'response', response: { status: 204, headers: [] } }) }
  t.type(handle(own), 'function')
  t.throws(
    () => handle(own, () => undefined),
    /plans\.list has its own handler: call handle\(route\) without/,
  )
  t.throws(() => wrap(own, () => undefined), /plans\.list has its own handler: mount it with handle\(route\)/)
})

t.test('refuses an existing handler that would see old field names of a body', async t => {
  const aliases = {
    resolve: ({ path }: { path: string }) => allow({ path, headers: {}, responseHeaders: [] }),
    renamesFields: (operation: string) => operation === 'cards.create',
  }
  const api = gate({ aliases })
  const { wrap, handle } = fetchGate(api, { body: 'clone', peer: 'none' })
  const existing = () => new Response()
  t.throws(() => wrap(api.open('cards.create'), existing), /cards\.create: the alias table renames fields/)
  t.doesNotThrow(() => wrap(api.open('cards.list'), existing))
  t.doesNotThrow(() => wrap(api.open('cards.create', { body: schema }), existing))
  t.doesNotThrow(() => handle(api.open('cards.create'), () => ({ status: 200 })))
})
