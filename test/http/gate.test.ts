import { allow, scopeCatalogue, type Session } from '@gatewright/kernel'
import { byAccept, codes, denialResponse, exposedHeaders, gate, wire } from '@gatewright/http'
import { fetchGate } from '@gatewright/http/fetch'
import t from 'tap'
import { bench } from '../scope-guard/issuer.ts'

const scopes = scopeCatalogue(['cards.read'])
const idempotency = {
  begin: async () => allow(undefined as never),
  complete: async () => ({ state: 'stored' }),
}
const wrong =
  (options: object): (() => unknown) =>
  () =>
    gate(options as never)

t.test('refuses a port without its functions, or in the wrong option, at construction', async t => {
  const { guard } = await bench()
  t.throws(wrong({ guard: idempotency, scopes }), /guard must have the function check/)
  t.throws(wrong({ guard, scopes, idempotency: guard }), /idempotency must have the function begin/)
  t.throws(wrong({ aliases: guard }), /aliases must have the function resolve/)
  t.throws(wrong({ idempotency }), /idempotency needs a guard/)
  t.throws(wrong({ guard, scopes: ['cards.read'] }), /scopes must have the function has/)
})

t.test('without a catalogue of scopes, a rule may name any scope', async t => {
  const { guard } = await bench()
  const api = gate({ guard })
  t.doesNotThrow(() => api.guarded({ operation: 'cards.list', allOf: ['any.scope'] }))
})

t.test('refuses a wrong option and names it, what is expected and the value', async t => {
  t.throws(wrong({ bodyLimitBytes: -1 }), /bodyLimitBytes must be an integer from 0 to 16777216, not -1/)
  t.throws(wrong({ responseLimitBytes: 1.5 }), /responseLimitBytes/)
  t.throws(wrong({ errors: 'xml' }), /errors must be "plain", "partner", "problem" or a function/)
  t.throws(wrong({ requireHttps: 'yes' }), /requireHttps must be true or false, not string/)
  t.throws(wrong({ exposeHeaders: 1 }), /exposeHeaders/)
  t.throws(wrong({ report: 'console' }), /report must be a function/)
  t.throws(wrong({ trustProxy: ['all'] }), /trustProxy/)
})

t.test('refuses an operation whose required option is missing, at construction', async t => {
  const { guard } = await bench()
  const api = gate({ guard, scopes })
  t.throws(
    () => api.guarded({ operation: 'cards.list', allOf: ['cards.raed' as never] }),
    /the scope cards\.raed is not a known scope; did you mean cards\.read\?/,
  )
  t.throws(() => api.guarded({ operation: 'cards', allOf: [] }), /operation must be "tag\.verb"/)
  const untyped = api as never as { idempotent(rule: object): unknown; guarded(rule: object): unknown }
  t.throws(() => untyped.idempotent({ operation: 'cards.create' }), /needs the option idempotency/)
  t.throws(() => api.transactional({ operation: 'cards.create', allOf: [] }, () => ({ status: 201 })), {
    message: 'cards.create: a transactional operation needs the option transactions',
  })
  const open = gate() as never as typeof untyped
  t.throws(() => open.guarded({ operation: 'cards.list' }), /needs the option guard/)
})

t.test('refuses two operations with one id, and takes several routes of one operation', async t => {
  const { guard } = await bench()
  const api = gate({ guard, scopes, idempotency: { ...idempotency, release: async () => true } })
  const rule = { operation: 'cards.create', allOf: ['cards.read'] } as const
  api.idempotent(rule)
  for (const declare of [api.guarded, api.idempotent] as ((rule: object) => unknown)[])
    t.throws(() => declare({ operation: 'cards.create', allOf: [] }), {
      name: 'TypeError',
      message:
        /cards\.create is declared twice on this gate, by \{.*"cards\.read".*\} and by \{.*\}: give each operation an id/,
    })
  t.doesNotThrow(() => api.guarded(rule), 'two methods of one path')
  t.doesNotThrow(() => api.guarded({ ...rule, surface: 'partner' }), 'the same operation on another surface')
  t.doesNotThrow(() => gate({ guard, scopes }).guarded({ ...rule }), 'another gate')
})

t.test('refuses a wrong rule at construction, with any guard', async t => {
  const { guard } = await bench()
  const session = {} as Session
  // It takes any rule, as a team's own guard may.
  const ours = { check: async () => allow({ session, headers: [] }), prepare: () => {} }
  const made = [gate({ guard, scopes, idempotency }), gate({ guard: ours, scopes, idempotency })]
  for (const api of made as never as Record<'guarded' | 'idempotent', (rule: object) => unknown>[]) {
    const mistakes: [rule: object, message: RegExp][] = [
      [{ operation: 'cards.list' }, /rule of "cards\.list".*allOf: \[\].*no scope is needed/],
      [{ operation: 'cards.list', allof: ['cards.read'] }, /allof is not known/],
      [{ operation: 'cards.list', scopes: ['cards.read'] }, /scopes is not known/],
      [{ operation: 'cards.list', allOf: undefined }, /allOf is undefined/],
      [{ operation: 'cards.list', anyOf: undefined }, /anyOf is undefined/],
      [{ operation: 'cards.list', anyOf: [] }, /anyOf must name at least one scope/],
      [{ operation: 'cards.list', allOf: ['cards.read'], spends: undefined }, /spends is undefined/],
    ]
    for (const [rule, message] of mistakes) {
      t.throws(() => api.guarded(rule), { name: 'TypeError', message })
      t.throws(() => api.idempotent(rule), { name: 'TypeError', message })
    }
    t.doesNotThrow(() => api.guarded({ operation: 'cards.list', allOf: [] }))
  }
})

t.test('denies plain HTTP if HTTPS is required', async t => {
  const api = gate({ requireHttps: true })
  const { handle } = fetchGate(api, { body: 'stream', peer: 'none' })
  const served = handle(api.open('plans.list'), () => ({ status: 204 }))
  const plain = await served(new Request('http://api.test/'), undefined)
  t.match(await plain.json(), { error: 'https_required' })
  t.equal(plain.status, 403)
  t.equal((await served(new Request('https://api.test/'), undefined)).status, 204)
})

t.test('sends a problem document (RFC 9457) to clients that accept it', async t => {
  const api = gate({ errors: byAccept('plain'), requireHttps: true })
  const { handle } = fetchGate(api, { body: 'stream', peer: 'none' })
  const served = handle(api.open('plans.list'), () => ({ status: 204 }))
  const headers = { accept: 'application/problem+json' }
  const response = await served(new Request('http://api.test/', { headers }), undefined)
  t.equal(response.headers.get('content-type'), 'application/problem+json')
  t.same(await response.json(), {
    type: 'about:blank',
    title: 'Forbidden',
    status: 403,
    detail: 'this API is served over HTTPS only',
    code: 'https_required',
  })
})

t.test('a denial keeps its own code if its details contain a code', async t => {
  const denial = { code: 'policy_blocked', status: 403, message: 'no', details: { error: 'x', rule: 'r' } }
  t.match(denialResponse(denial, 'plain').body, { error: 'policy_blocked', message: 'no', rule: 'r' })
  t.match(denialResponse(denial, 'problem').body, { code: 'policy_blocked', rule: 'r' })
})

t.test('encodes a body as JSON, unless there is none', async t => {
  t.same(wire({ status: 204, headers: [], body: undefined }), { status: 204, headers: [], body: '' })
  t.match(wire({ status: 200, headers: [['content-type', 'a/b']], body: null }), {
    headers: [['content-type', 'a/b']],
    body: 'null',
  })
})

t.test('a report or errors function that throws does not change the response', async t => {
  const broken = (): never => {
    throw new Error('broken')
  }
  const warnings: unknown[] = []
  const listen = (warning: Error): unknown => warnings.push(warning.message)
  process.on('warning', listen)
  t.teardown(() => process.off('warning', listen))
  const own = gate({ errors: broken, report: broken })
  const response = await fetchGate(own, { body: 'stream', peer: 'none' }).handle(
    own.open('plans.list'),
    broken,
  )(new Request('http://x/'), undefined)
  t.match(await response.json(), { error: 'internal_error' })
  await new Promise(setImmediate)
  t.ok(warnings.includes('broken'))
})

t.test('an observer may throw anything', async t => {
  for (const thrown of [
    Object.create(null),
    Symbol('own'),
    undefined,
    'text',
    new Error('own'),
  ] as unknown[]) {
    const observed = gate({
      observe() {
        throw thrown
      },
    })
    const serve = fetchGate(observed, { body: 'stream', peer: 'none' }).handle(
      observed.open('plans.list'),
      () => ({
        status: 200,
      }),
    )
    t.equal((await serve(new Request('http://x/'), undefined)).status, 200)
  }
})

t.test('exposes the fields that are sent, and has the codes that are sent', async t => {
  t.ok(exposedHeaders.includes('Idempotency-Replayed'))
  t.match(codes, { https_required: 403, payload_too_large: 413 })
})
