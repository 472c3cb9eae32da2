import { allow, scopeCatalogue, type Verdict } from '@gatewright/kernel'
import { gate, type Decision, type RequestFacts } from '@gatewright/http'
import { fetchGate } from '@gatewright/http/fetch'
import { sessionOf } from '#packages/http/dist/route/credentials.js'
import type { RequestContext } from '#packages/http/dist/route/request-context.js'
import t from 'tap'
import { bench } from '../../scope-guard/issuer.ts'

interface Partner {
  readonly id: string
}

const partners = async ({ header }: RequestFacts): Promise<Verdict<Partner>> => {
  const key = header('x-partner-key')
  if (key === 'good') return allow({ id: 'acme' })
  return {
    ok: false,
    code: 'unauthorized',
    status: 401,
    message: 'A partner key is required',
    reason: 'unknown key',
  }
}

async function setUp() {
  const { guard, bearer } = await bench()
  const read: string[] = []
  const decisions: Decision[] = []
  const api = gate({
    guard,
    scopes: scopeCatalogue(['cards.read']),
    observe: decision => decisions.push(decision),
    credentials: {
      partner: async facts => {
        read.push('partner')
        return partners(facts)
      },
      user: {
        present: ({ header }) => header('x-user-key') !== undefined,
        check: async ({ header }) => {
          read.push('user')
          return allow({ key: header('x-user-key') as string })
        },
        headersOf: () => [['RateLimit', '"keys";r=1;t=60']],
        idsOf: ({ key }) => ({ accountId: 'acc_9', keyId: key, sessionId: undefined }),
      },
    },
  })
  const bind = fetchGate(api, { body: 'stream', peer: 'none' })
  return { api, bind, bearer, read, decisions }
}
const requestWith = (headers: Record<string, string>): Request =>
  new Request('http://api.test/x', { headers })

t.test('verifies only the credential that the operation names', async t => {
  const { api, bind, bearer, read } = await setUp()
  const route = api.guardedBy('partner', { operation: 'users.resolve', allOf: ['cards.read'] })
  const serve = bind.handle(route, ({ caller, credential }) => ({
    status: 200,
    body: { caller, credential },
  }))
  const good = await serve(requestWith({ 'x-partner-key': 'good', 'x-user-key': 'k' }), undefined)
  t.same(await good.json(), { caller: { id: 'acme' }, credential: 'partner' })
  const session = await serve(requestWith({ authorization: await bearer() }), undefined)
  t.equal(session.status, 401)
  t.same(read, ['partner', 'partner'])
})

t.test('of two credentials verifies the first that the request carries, or the last', async t => {
  const { api, bind, bearer, read } = await setUp()
  const route = api.guardedBy(['user', 'session'], { operation: 'sessions.create', allOf: ['cards.read'] })
  const serve = bind.handle(route, call => {
    const who = call.credential === 'user' ? call.caller.key : call.caller.session.accountId
    return { status: 200, body: { who } }
  })
  const byKey = await serve(requestWith({ 'x-user-key': 'k_1', authorization: 'Bearer junk' }), undefined)
  t.same(await byKey.json(), { who: 'k_1' })
  t.equal(byKey.headers.get('ratelimit'), '"keys";r=1;t=60')
  const bySession = await serve(requestWith({ authorization: await bearer() }), undefined)
  t.same(await bySession.json(), { who: 'acc_1' })
  t.equal((await serve(requestWith({}), undefined)).status, 401)
  t.same(read, ['user'])
})

t.test('the decision event contains the credential, the caller and the reason of a denial', async t => {
  const { api, bind, decisions } = await setUp()
  const rule = { operation: 'keys.rotate', allOf: ['cards.read'] } as const
  const byUser = bind.handle(api.guardedBy('user', rule), () => ({ status: 204 }))
  await byUser(requestWith({ 'x-user-key': 'k_1' }), undefined)
  t.match(decisions[0], {
    operation: 'keys.rotate',
    credential: 'user',
    accountId: 'acc_9',
    keyId: 'k_1',
    status: 204,
  })
  const byPartner = bind.handle(api.guardedBy('partner', rule), () => ({ status: 204 }))
  await byPartner(requestWith({}), undefined)
  t.match(decisions[1], { status: 401, code: 'unauthorized', reason: 'unknown key', accountId: undefined })
})

t.test(
  'refuses an undeclared credential, and one without present() before another, at construction',
  async t => {
    const { api } = await setUp()
    const untyped = api as never as { guardedBy(names: unknown, rule: object): unknown }
    const rule = { operation: 'a.b', allOf: ['cards.read'] }
    t.throws(() => untyped.guardedBy('toString', rule), /a\.b: the gate has no credential "toString"/)
    t.throws(() => untyped.guardedBy([], rule), /name at least one credential/)
    t.throws(
      () => untyped.guardedBy(['partner', 'session'], rule),
      /the credential partner must have present\(\)/,
    )
  },
)

t.test('joins the fields of a limit of the route to those of the credential', async t => {
  const { api, bind } = await setUp()
  let left = 1
  const route = api.guardedBy(
    'user',
    { operation: 'keys.rotate', allOf: ['cards.read'] },
    {
      admit: async ({ caller }) =>
        left-- > 0
          ? allow([['RateLimit', `"of ${caller.key}";r=0;t=9`]])
          : { ok: false, code: 'rate_limited', status: 429, message: 'later', retryAfterSeconds: 9 },
    },
  )
  let runs = 0
  const serve = bind.handle(route, () => ({ status: 200, body: { runs: ++runs } }))
  const first = await serve(requestWith({ 'x-user-key': 'k' }), undefined)
  t.equal(first.headers.get('ratelimit'), '"keys";r=1;t=60, "of k";r=0;t=9')
  const second = await serve(requestWith({ 'x-user-key': 'k' }), undefined)
  t.equal(second.status, 429)
  t.equal(second.headers.get('retry-after'), '9')
  t.equal(runs, 1)
})

t.test('gives the session that a guard has accepted, else that of the credential, asked once', async t => {
  const { guard, bearer } = await bench()
  const api = gate({ guard })
  const context = (authorization: string | undefined): RequestContext => {
    const facts = {
      method: 'GET',
      path: '/x',
      query: new URLSearchParams(),
      search: '',
      header: (name: string) => (name === 'authorization' ? authorization : undefined),
      address: '',
      secure: true,
    }
    const entered = api.enter({}, () => facts)
    if (!entered.ok) throw new Error('not entered')
    return entered.value
  }
  await t.rejects(sessionOf(undefined, context(undefined)), /needs the option guard/)
  t.match(await sessionOf(guard as never, context(undefined)), { ok: false, status: 401 })
  const own = context(await bearer())
  const [first, again] = await Promise.all([sessionOf(guard as never, own), sessionOf(guard as never, own)])
  t.match(first, { ok: true, value: { accountId: String } })
  t.equal(again, first)
  const accepted = context(undefined)
  const session = { accountId: 'acc_guarded' }
  accepted.session = session as never
  t.same(await sessionOf(guard as never, accepted), { ok: true, value: session })
})
