import type { Session } from '@gatewright/kernel'
import type { GuardOptions } from '@gatewright/scope-guard'
import t from 'tap'
import { AUDIENCE, bench, claims, session, sign } from '../issuer.ts'

const rule = { operation: 'cards.list', allOf: [] }
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A guard and what it says about a token whose signature it does not come to check. */
async function unsigned(options: Partial<GuardOptions> = {}) {
  const { guard, clock, key } = await bench(options)
  const good = claims(session(clock.now()))
  const header = { alg: 'EdDSA', typ: 'at+jwt', kid: key.jwk.kid }
  const reasonOf = async (head: unknown, payload: unknown): Promise<unknown> => {
    const authorization = `Bearer ${encode(head)}.${encode(payload)}.AAAA`
    const verdict = await guard.check({ authorization }, rule)
    return verdict.ok ? undefined : verdict.reason
  }
  return { good, header, reasonOf, seconds: clock.now() / 1000 }
}

t.test('names in the reason what is wrong with the header of a token', async t => {
  const { good, header, reasonOf } = await unsigned()
  t.equal(await reasonOf(header, good), 'invalid signature')
  for (const head of [null, [], [header], 5, 'text', true])
    t.equal(await reasonOf(head, good), 'unreadable header', JSON.stringify(head))
  for (const kid of [null, '', 5, ['kid-EdDSA']])
    t.equal(await reasonOf({ ...header, kid }, good), 'no kid', JSON.stringify(kid))
  t.equal(await reasonOf({ ...header, crit: [] }, good), 'crit header')
  for (const name of ['jwk', 'jku', 'x5u', 'x5c'])
    t.equal(await reasonOf({ ...header, [name]: null }, good), `${name} header`)
  t.equal(await reasonOf({ ...header, typ: 'JWT' }, good), 'wrong typ')
  t.equal(await reasonOf({ ...header, kid: 'other' }, good), 'unknown key')
  t.equal(await reasonOf({ ...header, alg: 'ES256' }, good), 'the algorithm does not match the key')
})

t.test('names in the reason what is wrong with the claims of a token', async t => {
  const { good, header, reasonOf, seconds } = await unsigned()
  for (const payload of [null, [], [good], 5, 'text', true])
    t.equal(await reasonOf(header, payload), 'claims are not a JSON object', JSON.stringify(payload))
  const cases: [Record<string, unknown>, string][] = [
    [{ iss: 'https://other.test' }, 'wrong issuer'],
    [{ aud: 'https://other.test' }, 'wrong audience'],
    [{ aud: ['https://other.test'] }, 'wrong audience'],
    [{ aud: { 0: AUDIENCE } }, 'wrong audience'],
    [{ aud: undefined, undefined: AUDIENCE }, 'wrong audience'],
    [{ exp: undefined }, 'no exp'],
    [{ exp: '9' }, 'no exp'],
    [{ iat: undefined }, 'no iat'],
    [{ iat: '9' }, 'no iat'],
    [{ iat: seconds + 5.001 }, 'issued in the future'],
    [{ iat: seconds + 5 }, 'invalid signature'],
    [{ nbf: '9' }, 'nbf must be a number'],
    [{ nbf: null }, 'nbf must be a number'],
    [{ nbf: seconds + 5.001 }, 'not valid yet'],
    [{ nbf: seconds + 5 }, 'invalid signature'],
    [{ exp: seconds + 0.001 }, 'invalid signature'],
  ]
  for (const [changes, reason] of cases)
    t.equal(await reasonOf(header, { ...good, ...changes }), reason, JSON.stringify(changes))
})

t.test('accepts a typ in any case, with and without application/, and no other typ', async t => {
  const { good, header, reasonOf } = await unsigned()
  for (const typ of ['AT+JWT', 'application/at+jwt', 'Application/AT+jwt'])
    t.equal(await reasonOf({ ...header, typ }, good), 'invalid signature', typ)
  for (const typ of ['x/at+jwt', 'application/x/at+jwt', 'jwt', '', 5, null, ['at+jwt'], undefined])
    t.equal(await reasonOf({ ...header, typ }, good), 'wrong typ', JSON.stringify(typ))
  const other = await unsigned({ typ: 'X/y' })
  t.equal(await other.reasonOf({ ...other.header, typ: 'x/Y' }, other.good), 'invalid signature')
  for (const typ of ['application/x/y', 'y', 'at+jwt'])
    t.equal(await other.reasonOf({ ...other.header, typ }, other.good), 'wrong typ', typ)
})

t.test('checks the instants of the session that a reader returns', async t => {
  const verdictOf = async (changes: (now: number) => Partial<Session>): Promise<unknown> => {
    let now = 0
    const made = await bench({ readSession: () => session(now, changes(now)) })
    now = made.clock.now()
    const token = await sign(made.key, claims(session(now)))
    return made.guard.check({ authorization: `Bearer ${token}` }, rule)
  }
  // The instants of a token are rounded up to the next second, so up to a second more is allowed.
  t.match(await verdictOf(now => ({ issuedAt: now + 5999 })), { ok: true })
  t.match(await verdictOf(now => ({ issuedAt: now + 6000 })), { reason: 'issued in the future' })
  t.match(await verdictOf(now => ({ expiresAt: now + 1 })), { ok: true })
  t.match(await verdictOf(now => ({ expiresAt: now })), { code: 'session_expired' })
})
