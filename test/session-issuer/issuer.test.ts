import { fromClaims, type Surface } from '@gatewright/kernel'
import { createIssuer } from '@gatewright/session-issuer'
import { createLocalJWKSet, jwtVerify } from 'jose'
import t from 'tap'
import { newKey, PEPPER, setUp } from './fixtures.ts'

t.test('a new key authenticates on its own surface, and shows no secret', async t => {
  const { issuer } = setUp()
  const { key, text } = await newKey(issuer, ['users.read'])
  t.match(text, /^gw_sandbox_user_[0-9A-Za-z]{16}_[0-9A-Za-z]{36}$/)
  t.ok(text.startsWith(`${key.prefix}_`))
  const verdict = await issuer.authenticateKey(text, 'user')
  t.ok(verdict.ok)
  t.notMatch(JSON.stringify(verdict), text.slice(-36))
  t.equal((await issuer.authenticateKey(text, 'partner')).ok, false)
})

t.test('junk is refused with no storage call', async t => {
  const { options } = setUp()
  const { text } = await newKey(createIssuer(options), [])
  let calls = 0
  const counted = new Proxy(options.keys, {
    get(target, name) {
      calls++
      return Reflect.get(target, name) as unknown
    },
  })
  const issuer = createIssuer({ ...options, keys: counted })
  calls = 0
  const flipped = text.slice(0, -1) + (text.endsWith('0') ? '1' : '0')
  const junk = ['', 'x', text.slice(0, -1), `${text}0`, flipped, text.replace('sandbox', 'live'), ` ${text}`]
  for (const value of [
    ...junk,
    text.toLowerCase(),
    text.replace('_user_', '_partner_'),
    null,
    7,
    {},
    [text],
  ]) {
    const verdict = await issuer.authenticateKey(value, 'user')
    t.match(verdict, { ok: false, code: 'unauthorized', status: 401 })
  }
  t.equal(calls, 0)
})

t.test('a session token carries the claims of the session and verifies with the published keys', async t => {
  const { issuer, clock } = setUp()
  const { key } = await newKey(issuer, ['users.read', 'cards.read'], { policy: { maxAuthAmountCents: 5 } })
  const minted = await issuer.issueSession(key, { scopes: ['cards.read'], policy: { limits: [] } })
  if (!minted.ok) throw new Error(minted.code)
  const { token, session } = minted.value
  const { payload, protectedHeader } = await jwtVerify(
    token,
    createLocalJWKSet((await issuer.jwks()) as never),
    {
      issuer: 'https://gate.example',
      audience: 'https://gate.example',
      typ: 'at+jwt',
      algorithms: ['EdDSA'],
      currentDate: new Date(clock.now()),
    },
  )
  t.same(fromClaims(payload), session)
  t.same(session.scopes, ['cards.read'])
  t.equal(session.expiresAt, clock.now() + 900_000)
  t.same(await issuer.policies(session.policyIds), [{ maxAuthAmountCents: 5 }, { limits: [] }])
  t.equal((await issuer.verificationKey(protectedHeader.kid as string))?.kid, protectedHeader.kid)
})

t.test('more scopes than the key holds are refused by name', async t => {
  const { issuer } = setUp()
  const { key } = await newKey(issuer, ['users.read'])
  t.match(await issuer.issueSession(key, { scopes: ['users.read', 'cards.read', 'keys.write'] }), {
    code: 'insufficient_scope',
    status: 403,
    details: { scope: ['cards.read', 'keys.write'] },
  })
})

t.test('a life outside 60 to 86400 s is refused, and no session outlives its key', async t => {
  const { issuer, clock } = setUp()
  const { key } = await newKey(issuer, [], { expiresAt: clock.now() + 100_500 })
  for (const ttlSeconds of [59, 86_401, 60.5, NaN, '900' as never]) {
    t.match(await issuer.issueSession(key, { ttlSeconds }), { code: 'invalid_request', field: 'ttlSeconds' })
  }
  const minted = await issuer.issueSession(key, { ttlSeconds: 86_400 })
  t.equal(minted.ok && minted.value.session.expiresAt, clock.now() + 100_000)
})

t.test('a partner key mints for a named user, and nothing else names one', async t => {
  const { issuer } = setUp()
  const partner = await newKey(issuer, ['users.read'], {
    surface: 'partner' as Surface,
    accountId: 'partner-1',
  })
  const subject = { accountId: 'partner-1/u', userId: 'u', walletAddress: null }
  t.match(await issuer.issueSession(partner.key), { code: 'invalid_request', field: 'userId' })
  const minted = await issuer.issueSession(partner.key, { subject, scopes: [] })
  t.match(minted, { ok: true, value: { session: { ...subject, surface: 'partner', keyId: partner.key.id } } })
  const user = await newKey(issuer, [])
  t.match(await issuer.issueSession(user.key, { subject }), { code: 'invalid_request', field: 'userId' })
})

t.test('rows written under an old pepper authenticate after a roll, and move to the new one', async t => {
  const { issuer, options } = setUp()
  const { text } = await newKey(issuer, [])
  const newer = { id: 'p2', secret: 'y'.repeat(32) }
  const rolled = createIssuer({ ...options, peppers: [newer, PEPPER] })
  t.equal((await rolled.authenticateKey(text, 'user')).ok, true)
  await rolled.flush()
  t.equal((await createIssuer({ ...options, peppers: [newer] }).authenticateKey(text, 'user')).ok, true)
  t.equal((await createIssuer({ ...options, peppers: [PEPPER] }).authenticateKey(text, 'user')).ok, false)
})
