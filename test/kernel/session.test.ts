import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { toClaims, type Session } from '@gatewright/kernel'
import { fromClaims } from '@gatewright/kernel/internal'
import fc from 'fast-check'
import t from 'tap'
import { holds } from '../harness/holds.ts'

const anyText = fc.string({ minLength: 1, maxLength: 40 })
const anyTextOrNull = fc.option(anyText)
const anyScope = fc.stringMatching(/^[a-z]{1,8}\.[a-z]{1,8}$/)
const anyWholeSecond = fc.integer({ min: 0, max: 4_102_444_800 }).map(seconds => seconds * 1000)
const anySession: fc.Arbitrary<Session> = fc.record(
  {
    sessionId: anyText,
    accountId: anyText,
    userId: anyTextOrNull,
    walletAddress: anyTextOrNull,
    surface: fc.constantFrom('user', 'partner'),
    keyId: anyText,
    keyVersion: fc.nat(),
    policyIds: fc.array(anyText, { maxLength: 4 }),
    scopes: fc.array(anyScope, { maxLength: 6 }),
    issuedAt: anyWholeSecond,
    expiresAt: anyWholeSecond,
  },
  { noNullPrototype: true },
)

const sample: Session = {
  sessionId: 'ses_1',
  accountId: 'acc_1',
  userId: 'usr_1',
  walletAddress: '0x52908400098527886e0f7030069857d2e4169ee7',
  surface: 'user',
  keyId: 'key_1',
  keyVersion: 2,
  policyIds: ['pol_root', 'pol_leaf'],
  scopes: ['cards.read', 'subscriptions.write'],
  issuedAt: 1_767_225_600_000,
  expiresAt: 1_767_229_200_000,
}

t.test('converts a session to the documented claims', async t => {
  t.strictSame(toClaims(sample), {
    jti: 'ses_1',
    sub: 'acc_1',
    client_id: 'key_1',
    scope: 'cards.read subscriptions.write',
    iat: 1_767_225_600,
    exp: 1_767_229_200,
    gw_user: 'usr_1',
    gw_wallet: '0x52908400098527886e0f7030069857d2e4169ee7',
    gw_surface: 'user',
    gw_key_version: 2,
    gw_policies: ['pol_root', 'pol_leaf'],
  })
})

t.test('converts claims back to the same session, also after JSON', async t => {
  await holds(
    t,
    fc.property(anySession, given => {
      assert.deepEqual(fromClaims({ ...toClaims(given) }), given)
      const travelled = JSON.parse(JSON.stringify(toClaims(given))) as Record<string, unknown>
      assert.deepEqual(fromClaims(travelled), given)
    }),
  )
})

t.test('ignores other claims', async t => {
  t.strictSame(fromClaims({ ...toClaims(sample), iss: 'x', aud: ['y'], nbf: 1, scopes: ['admin'] }), sample)
})

const claims = toClaims(sample)

for (const name of Object.keys(claims)) {
  t.test(`rejects claims without ${name}`, async t => {
    const { [name]: _, ...rest } = { ...claims } as Record<string, unknown>
    t.equal(fromClaims(rest), undefined)
  })
}

/** Values of every JSON type, and others that a careless check of a type would accept. */
const values = [
  undefined,
  null,
  true,
  '',
  'text',
  0,
  1,
  -1,
  1.5,
  NaN,
  Infinity,
  2 ** 53,
  '1',
  [],
  [''],
  [1],
  ['x', null],
  {},
]
const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''
const isDate = (value: unknown): boolean =>
  typeof value === 'number' && Number.isSafeInteger(Math.floor(value))
/** Only types are checked: claims come from a verified token, and the guard compares `exp` with its clock itself. */
const accepts: Record<keyof typeof claims, (value: unknown) => boolean> = {
  jti: isText,
  sub: isText,
  client_id: isText,
  scope: value => typeof value === 'string',
  iat: isDate,
  exp: isDate,
  gw_user: value => value === null || isText(value),
  gw_wallet: value => value === null || isText(value),
  gw_surface: value => value === 'user' || value === 'partner',
  gw_key_version: Number.isSafeInteger,
  gw_policies: value => Array.isArray(value) && value.every(isText),
}

for (const [name, accepted] of Object.entries(accepts)) {
  t.test(`accepts only a ${name} of its type`, async t => {
    for (const value of values) {
      const read = fromClaims({ ...claims, [name]: value })
      t.equal(read !== undefined, accepted(value), `${name} = ${inspect(value)}`)
    }
  })
}

t.test(
  'rounds a fraction of a second of exp down and of iat up, so that no session outlives its token',
  async t => {
    const seconds = fc.double({ min: 0, max: 4e9, noNaN: true })
    fc.assert(
      fc.property(seconds, seconds, (iat, exp) => {
        const session = fromClaims({ ...claims, iat, exp })
        return (
          session !== undefined &&
          session.issuedAt % 1000 === 0 &&
          session.expiresAt % 1000 === 0 &&
          session.issuedAt / 1000 - iat >= 0 &&
          session.issuedAt / 1000 - iat <= 1 &&
          exp - session.expiresAt / 1000 >= 0 &&
          exp - session.expiresAt / 1000 <= 1
        )
      }),
    )
    t.match(fromClaims({ ...claims, iat: 10.1, exp: 20.9 }), { issuedAt: 11_000, expiresAt: 20_000 })
  },
)
