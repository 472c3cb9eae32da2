import type { SpendStorage } from '@gatewright/scope-guard'
import type { Rule } from '@gatewright/kernel'
import { memorySpends } from '@gatewright/scope-guard/memory'
import t from 'tap'
import { bench, field, session } from './issuer.ts'

const read = { operation: 'cards.list', allOf: ['cards.read'], surface: 'user' } as const

t.test('accepts a session that satisfies the rule', async t => {
  const { guard, bearer, clock } = await bench()
  const verdict = await guard.check({ authorization: await bearer() }, read)
  t.ok(verdict.ok)
  if (!verdict.ok) return
  t.equal(verdict.value.session.accountId, 'acc_1')
  t.equal(verdict.value.session.expiresAt, clock.now() + 900_000)
  t.match(verdict.value.evidence, { operation: 'cards.list', keyId: 'key_1', sessionId: 'ses_1' })
})

t.test('returns a promise from every check and never throws synchronously', async t => {
  const { guard, bearer, clock } = await bench({
    limits: [{ name: 'perKey', points: 2, windowSeconds: 60, per: 'key' }],
  })
  const authorization = await bearer()
  const partner = { ...read, surface: 'partner' } as const
  const other = { ...read, allOf: ['x.write'] }
  const responses: [facts: unknown, rule: unknown, expected: object][] = [
    [{ authorization }, read, { ok: true }],
    [{ authorization }, read, { ok: true }],
    [{ authorization }, read, { code: 'rate_limited' }],
    [{ authorization }, partner, { code: 'wrong_surface' }],
    [{ authorization }, other, { code: 'insufficient_scope' }],
    [{ authorization: undefined }, read, { code: 'unauthorized' }],
    [{}, read, { code: 'unauthorized' }],
    [{ authorization: 7 }, read, { code: 'unauthorized' }],
    [{ authorization: ['Bearer x'] }, read, { code: 'unauthorized' }],
    [{ authorization: 'Bearer junk' }, read, { code: 'unauthorized' }],
  ]
  for (const [facts, rule, expected] of responses) {
    const response = guard.check(facts as never, rule as never)
    t.ok(response instanceof Promise, JSON.stringify(expected))
    t.match(await response, expected)
  }
  clock.advance(900_000)
  const late = [guard.check({ authorization }, read), guard.authenticate({ authorization })]
  for (const response of late) {
    t.ok(response instanceof Promise)
    t.match(await response, { code: 'session_expired' })
  }
})

t.test('rejects the promise of a check without facts, without a rule, or by a wrong rule', async t => {
  const { guard, bearer } = await bench()
  const facts = { authorization: await bearer() }
  const mistakes: [facts: unknown, rule: unknown][] = [
    [undefined, read],
    [null, read],
    [facts, undefined],
    [facts, null],
    [facts, { operation: '' }],
  ]
  for (const [given, rule] of mistakes) {
    const response = guard.check(given as never, rule as never)
    t.ok(response instanceof Promise)
    await t.rejects(response, TypeError)
  }
  const nobody = guard.authenticate(undefined as never)
  t.ok(nobody instanceof Promise)
  await t.rejects(nobody, TypeError)
})

t.test('challenges without an error code when no bearer credential is sent', async t => {
  const { guard } = await bench()
  for (const authorization of [undefined, '', 'Basic dXNlcjpwYXNz', 'Bearers abc', 'DPoP abc']) {
    const verdict = await guard.check({ authorization }, read)
    t.match(verdict, { ok: false, code: 'unauthorized', status: 401 })
    if (verdict.ok) return
    t.equal(field(verdict.headers, 'WWW-Authenticate'), 'Bearer realm="api", scope="cards.read"')
  }
  const alone = await guard.authenticate({ authorization: undefined })
  t.same(!alone.ok && alone.headers, [['WWW-Authenticate', 'Bearer realm="api"']])
})

t.test('names the scopes of the operation in the challenge of every 401, and of no other denial', async t => {
  const { guard, bearer, clock } = await bench()
  const rule = { operation: 'cards.secrets', allOf: ['cards.read'], anyOf: ['a.b', 'c.d'] }
  const scope = 'scope="cards.read a.b c.d"'
  const authorization = await bearer({ scopes: ['cards.read', 'a.b'] })
  t.match(await guard.check({ authorization }, rule), { ok: true })
  const challenge = async (facts: { authorization: string | undefined }) => {
    const verdict = await guard.check(facts, rule)
    return verdict.ok ? undefined : field(verdict.headers, 'WWW-Authenticate')
  }
  t.match(
    await challenge({ authorization: 'Bearer a.b.c' }),
    `error_description="The access token is not valid", ${scope}`,
  )
  clock.advance(900_000)
  t.match(await challenge({ authorization }), `error_description="The access token has expired", ${scope}`)
  const open = await guard.check({ authorization: undefined }, { operation: 'cards.list', allOf: [] })
  t.same(!open.ok && open.headers, [['WWW-Authenticate', 'Bearer realm="api"']])
  const other = await guard.check(
    { authorization: await bearer({ expiresAt: clock.now() + 9000 }) },
    { ...read, surface: 'partner' },
  )
  t.match(other, { code: 'wrong_surface', headers: [] })
})

t.test(
  'ignores the case of the scheme, and the number of spaces after it (RFC 6750 section 2.1)',
  async t => {
    const { guard, bearer } = await bench()
    const token = (await bearer()).slice(7)
    t.match(await guard.check({ authorization: `bearer ${token}` }, read), { ok: true })
    t.match(await guard.check({ authorization: `BEARER ${token}` }, read), { ok: true })
    t.match(await guard.check({ authorization: `Bearer  ${token}` }, read), { ok: true })
  },
)

t.test('names the scope that is missing, in the body and in the challenge', async t => {
  const { guard, bearer } = await bench()
  const rule = { operation: 'cards.secrets', allOf: ['cards.read', 'cards.secrets.read'] }
  const verdict = await guard.check({ authorization: await bearer() }, rule)
  t.match(verdict, { code: 'insufficient_scope', status: 403, details: { scope: 'cards.secrets.read' } })
  if (verdict.ok) return
  t.equal(
    field(verdict.headers, 'WWW-Authenticate'),
    'Bearer realm="api", error="insufficient_scope", scope="cards.read cards.secrets.read"',
  )
})

t.test('denies a session of the other surface, both ways', async t => {
  const { guard, bearer } = await bench()
  const partner = { operation: 'balances.list', allOf: [], surface: 'partner' } as const
  t.match(await guard.check({ authorization: await bearer() }, partner), {
    code: 'wrong_surface',
    status: 403,
  })
  const authorization = await bearer({ surface: 'partner' })
  t.match(await guard.check({ authorization }, { ...read, allOf: ['cards.read'] }), { code: 'wrong_surface' })
})

t.test('ends a session exactly at its expiry, also if the token is cached', async t => {
  const { guard, bearer, clock } = await bench({ cacheSeconds: 3600 })
  const authorization = await bearer()
  clock.advance(900_000 - 1)
  t.match(await guard.check({ authorization }, read), { ok: true })
  clock.advance(1)
  const verdict = await guard.check({ authorization }, read)
  t.match(verdict, { code: 'session_expired', status: 401 })
  if (verdict.ok) return
  t.match(field(verdict.headers, 'WWW-Authenticate'), /error="invalid_token"/)
})

t.test('adds evidence to every denial of a verified session, for the decision event', async t => {
  const limits = [{ name: 'guarded', points: 1, windowSeconds: 60, per: 'key' }] as const
  const { guard, bearer } = await bench({ limits, policies: async () => [{ denyOperations: ['x.y'] }] })
  const authorization = await bearer({ policyIds: ['p'] })
  const denied = [
    await guard.check({ authorization }, { operation: 'a.b', allOf: ['x.write'] }),
    await guard.check({ authorization }, { operation: 'x.y', allOf: [] }),
    await guard.check({ authorization }, read),
  ]
  const evidence = { accountId: 'acc_1', keyId: 'key_1', sessionId: 'ses_1', policyIds: ['p'] }
  t.match(denied, [
    { code: 'insufficient_scope', evidence: { ...evidence, operation: 'a.b', limits: [] } },
    { code: 'policy_blocked', evidence: { ...evidence, limits: [{ name: 'guarded', remaining: 0 }] } },
    { code: 'rate_limited', evidence: { ...evidence, limits: [{ name: 'guarded', remaining: 0 }] } },
  ])
  const nobody = await guard.check({ authorization: 'Bearer x' }, read)
  t.notOk('evidence' in nobody)
})

t.test('counts one limit per key, reports what is left, and denies with Retry-After', async t => {
  const limits = [{ name: 'guarded', points: 2, windowSeconds: 60, per: 'key' }] as const
  const { guard, bearer } = await bench({ limits })
  const first = await guard.check({ authorization: await bearer() }, read)
  if (!first.ok) return t.fail('denied')
  t.equal(field(first.value.headers, 'RateLimit-Policy'), '"guarded";q=2;w=60')
  t.equal(field(first.value.headers, 'RateLimit'), '"guarded";r=1;t=60')
  // Another session of the same key fills the same bucket; another key has its own.
  t.match(await guard.check({ authorization: await bearer({ sessionId: 'ses_2' }) }, read), { ok: true })
  const third = await guard.check({ authorization: await bearer({ sessionId: 'ses_3' }) }, read)
  t.match(third, { code: 'rate_limited', status: 429, details: { limit: 'guarded' } })
  if (third.ok) return
  t.equal(field(third.headers, 'RateLimit'), '"guarded";r=0;t=60')
  t.equal(field(third.headers, 'Retry-After'), '60')
  t.equal(third.retryAfterSeconds, 60)
  t.match(await guard.check({ authorization: await bearer({ keyId: 'key_2' }) }, read), { ok: true })
})

t.test('enforces the operations and validity periods of every policy in the chain', async t => {
  const documents: Record<string, unknown> = {
    root: { denyOperations: ['withdrawals.*'], notAfter: '2026-01-01T00:10:00Z' },
    leaf: { allowOperations: ['cards.*', 'withdrawals.create'], notBefore: '2026-01-01T00:01:00Z' },
  }
  const { guard, bearer, clock } = await bench({ policies: async ids => ids.map(id => documents[id]) })
  const authorization = await bearer({ policyIds: ['root', 'leaf'] })
  const at = (operation: string) => guard.check({ authorization }, { operation, allOf: [] })
  t.match(await at('cards.list'), {
    code: 'policy_blocked',
    details: { rule: 'notBefore', policyId: 'leaf' },
  })
  clock.advance(60_000)
  t.match(await at('cards.list'), { ok: true })
  t.match(await at('withdrawals.create'), { code: 'policy_blocked', details: { rule: 'denyOperations' } })
  t.match(await at('deposits.list'), { code: 'policy_blocked', details: { rule: 'allowOperations' } })
  clock.advance(540_000)
  t.match(await at('cards.list'), { code: 'policy_blocked', details: { rule: 'notAfter', policyId: 'root' } })
})

t.test('throws a fault when a policy is missing or invalid', async t => {
  const sources = {
    throws: async () => Promise.reject(new Error('down')),
    loses: async () => [],
    garbles: async () => [{ dailySpendCap: 1 }],
    nothing: async () => [undefined],
  }
  for (const [name, policies] of Object.entries(sources)) {
    const { guard, bearer } = await bench({ policies })
    const authorization = await bearer({ policyIds: ['p'] })
    await t.rejects(async () => guard.check({ authorization }, read), { name: 'Fault' }, name)
  }
})

t.test('throws a fault when a store does not reply within storeTimeoutMs', async t => {
  const never = <T>(): Promise<T> => new Promise(() => {})
  const silent: SpendStorage = {
    ...memorySpends(),
    reserve: never,
    settle: never,
    release: never,
    usage: never,
  }
  const capped = { policies: async () => [{ dailySpendCapCents: 100 }], spend: silent, storeTimeoutMs: 20 }
  const spending = { operation: 'x.pay', allOf: [], spends: 'spend' } as const
  const fault = { name: 'Fault', code: 'ERR_STORE_UNAVAILABLE' }

  const { guard, bearer, clock } = await bench(capped)
  const access = await guard.check({ authorization: await bearer({ policyIds: ['p'] }) }, spending)
  if (!access.ok) return t.fail('denied')
  const spend = { amountCents: 1, currency: 'USD' }
  await t.rejects(guard.reserve(access.value, spend), fault)
  const hold = { id: 'h', accountId: 'a', amountCents: 1, requested: spend, held: true }
  await t.rejects(guard.settle(hold), fault)
  await t.rejects(guard.release(hold), fault)
  const holder = session(clock.now(), { policyIds: ['p'] })
  await t.rejects(guard.simulate(holder, { authorization: undefined }, spending, spend), fault)

  const policies = await bench({ policies: never, storeTimeoutMs: 20 })
  const authorization = await policies.bearer({ policyIds: ['p'] })
  await t.rejects(async () => policies.guard.check({ authorization }, read), fault)
  const strict = await bench({ revocation: { mode: 'strict', isLive: never }, storeTimeoutMs: 20 })
  const live = await strict.bearer()
  await t.rejects(async () => strict.guard.check({ authorization: live }, read), fault)
})

t.test('accepts no session under a rule that misspells or omits its scopes', async t => {
  const { guard, bearer, clock } = await bench()
  const holder = session(clock.now(), { scopes: [] })
  const facts = { authorization: await bearer({ scopes: [] }) }
  const mistakes: [rule: object, message: RegExp][] = [
    [{ operation: 'a.b' }, /rule of "a\.b".*allOf: \[\].*no scope is needed/],
    [{ operation: 'a.b', allof: ['x.write'] }, /allof is not known/],
    [{ operation: 'a.b', scopes: ['x.write'] }, /scopes is not known/],
    [{ operation: 'a.b', allOf: undefined }, /allOf is undefined/],
    [{ operation: 'a.b', anyOf: undefined }, /anyOf is undefined/],
    [{ operation: 'a.b', anyOf: [] }, /anyOf must name at least one scope/],
    [{ operation: 'a.b', allOf: ['a b'] }, /allOf must contain only scopes/],
    [{ operation: 'a.b', allOf: [], surface: undefined }, /surface is undefined/],
    [{ operation: 'a.b', allOf: [], spends: undefined }, /spends is undefined/],
    [{ operation: 'nodot', allOf: [] }, /operation must be "tag\.verb"/],
  ]
  for (const [mistake, message] of mistakes) {
    const rule = mistake as Rule
    const error = { name: 'TypeError', message }
    t.throws(() => guard.prepare(rule), error)
    await t.rejects(guard.check(facts, rule), error)
    await t.rejects(guard.authorize(holder, facts, rule), error)
    await t.rejects(guard.simulate(holder, facts, rule), error)
  }
  t.match(await guard.check(facts, { operation: 'a.b', allOf: [] }), { ok: true })
})
