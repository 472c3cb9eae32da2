// What the log of the operator says about a denied token.
import { createGuard, localKeys, reasons, sessionReader, type GuardOptions } from '@gatewright/scope-guard'
import { toClaims } from '@gatewright/kernel'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { AUDIENCE, claims, ISSUER, session, sign, signingKey } from '../issuer.ts'

const clock = manualClock()
const key = await signingKey()
const own = claims(session(clock.now()))

async function explained(
  changes: Record<string, unknown>,
  header: Record<string, unknown> = {},
  options: Partial<GuardOptions> = {},
) {
  const keys = localKeys({ keys: [key.jwk] })
  const guard = createGuard({ issuer: ISSUER, audience: AUDIENCE, keys, clock, ...options })
  const authorization = `Bearer ${await sign(key, { ...own, ...changes }, header)}`
  const denial = await guard.check({ authorization }, { operation: 'cards.list', allOf: [] })
  if (denial.ok) throw new Error('accepted')
  return { reason: denial.reason, explanation: denial.explanation, authorization, message: denial.message }
}

t.test('says what was expected and what came', async t => {
  const now = clock.now() / 1000
  for (const [changes, header, explanation] of [
    [{ aud: 'https://other' }, {}, `audience: expected ${AUDIENCE}, token has https://other`],
    [{ aud: ['a', 'b'] }, {}, `audience: expected ${AUDIENCE}, token has [a, b]`],
    [{ aud: undefined }, {}, `audience: expected ${AUDIENCE}, token has none`],
    [{ iss: `${ISSUER}/` }, {}, `issuer: expected ${ISSUER}, token has ${ISSUER}/`],
    [{ iss: 7 }, {}, `issuer: expected ${ISSUER}, token has 7`],
    [{ iss: { a: 1 } }, {}, `issuer: expected ${ISSUER}, token has a value of type object`],
    [{}, { typ: 'JWT' }, 'typ: expected at+jwt, token has JWT'],
    [{}, { typ: undefined }, 'typ: expected at+jwt, token has none'],
    [{}, { kid: 'other' }, `kid: no key other among the keys of ${ISSUER}`],
    [{ iat: now + 100 }, {}, 'iat: 100 s after the time of this machine'],
    [{ nbf: now + 100 }, {}, 'nbf: 100 s after the time of this machine'],
    [{ jti: undefined }, {}, /^the token has the claims \[.*\bsub\b/],
  ] as const) {
    t.match((await explained(changes, header)).explanation, explanation)
  }
})

t.test('says nothing more about a reason that says all, and nothing to the client', async t => {
  const { explanation, message } = await explained({ exp: 'x' })
  t.equal(explanation, undefined)
  t.equal(message, 'The session token is not valid: get a new one')
})

t.test('repeats at most 80 printable characters of a value, and 12 values', async t => {
  const hostile = `a\nb\u001b[31m\u202e${'x'.repeat(1000)}`
  const { explanation = '' } = await explained({ aud: hostile })
  t.match(explanation, /^[\u0020-\u007e]*$/)
  t.ok(explanation.length < 160)
  const many = await explained({ aud: Array.from({ length: 30 }, (_, index) => `a${index}`) })
  t.match(many.explanation, /a11, \.\.\.\]$/)
  const nested = await explained({ aud: [['a', ['b']], { c: 1 }] })
  t.match(nested.explanation, 'token has [[a, [b]], a value of type object]')
})

t.test('contains no part of the token, and no account', async t => {
  const { explanation = '', authorization } = await explained({ jti: undefined, sub: 'secret-account' })
  t.notMatch(explanation, 'secret-account')
  for (const part of authorization.split('.')) t.notOk(explanation.includes(part))
})

const { gw_account: _, ...foreign } = { ...toClaims(session(clock.now())), gw_account: '' } as Record<
  string,
  unknown
>
const plain = Object.fromEntries(
  Object.keys(foreign)
    .filter(name => name.startsWith('gw_'))
    .map(name => [name, undefined]),
)

t.test('a guard with policies denies tokens of other issuers, whose sessions would have none', async t => {
  const policies = async (ids: readonly string[]) => ids.map(() => ({ dailySpendCapCents: 1 }))
  const rfc9068 = { ...plain, sub: 'ann', client_id: 'app', scope: 'a.b', jti: 'one' }
  t.equal((await explained(rfc9068, {}, { policies })).reason, 'the token names no policies')
  t.ok(reasons.includes('the token names no policies'))
  const accepts = async (options: Partial<GuardOptions>): Promise<void> => {
    await t.rejects(explained(rfc9068, {}, options), { message: 'accepted' })
  }
  await accepts({})
  await accepts({ policies, sessionPolicies: () => [] })
  await accepts({ policies, readSession: sessionReader({ policyIds: () => [] }) })
  await t.rejects(explained({}, {}, { policies }), { message: 'accepted' }, 'our own tokens name theirs')
})

t.test('policies that can never apply are refused at construction', async t => {
  const options = { issuer: ISSUER, audience: AUDIENCE, policies: async () => [] }
  t.throws(() => createGuard({ ...options, readSession: sessionReader({ preset: 'auth0' }) }), {
    name: 'TypeError',
    message: /policies has no effect.*no cap would ever apply.*policyIds.*sessionPolicies/,
  })
  createGuard({ ...options, readSession: sessionReader({ preset: 'auth0', policyIds: () => ['a'] }) })
  createGuard({ ...options, readSession: () => undefined })
})
