import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { fromClaims, toClaims, type Session } from '@gatewright/kernel'
import fc from 'fast-check'
import t from 'tap'
import { holds } from '../harness/holds.ts'

const text = fc.string({ minLength: 1, maxLength: 40 })
const textOrNull = fc.option(text)
const scope = fc.stringMatching(/^[a-z]{1,8}\.[a-z]{1,8}$/)
const wholeSecond = fc.integer({ min: 0, max: 4_102_444_800 }).map(seconds => seconds * 1000)
const session: fc.Arbitrary<Session> = fc.record(
  {
    sessionId: text,
    accountId: text,
    userId: textOrNull,
    walletAddress: textOrNull,
    surface: fc.constantFrom('user', 'partner'),
    keyId: text,
    keyVersion: fc.nat(),
    policyIds: fc.array(text, { maxLength: 4 }),
    scopes: fc.array(scope, { maxLength: 6 }),
    issuedAt: wholeSecond,
    expiresAt: wholeSecond,
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
    fc.property(session, given => {
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

/** Values of every JSON type, and those that a type check easily lets through. */
const anything = [
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
const accepts: Record<keyof typeof claims, (value: unknown) => boolean> = {
  jti: isText,
  sub: isText,
  client_id: isText,
  scope: value => typeof value === 'string',
  iat: Number.isSafeInteger,
  exp: Number.isSafeInteger,
  gw_user: value => value === null || isText(value),
  gw_wallet: value => value === null || isText(value),
  gw_surface: value => value === 'user' || value === 'partner',
  gw_key_version: Number.isSafeInteger,
  gw_policies: value => Array.isArray(value) && value.every(isText),
}

for (const [name, accepted] of Object.entries(accepts)) {
  t.test(`rejects a ${name} of another type`, async t => {
    for (const value of anything) {
      const read = fromClaims({ ...claims, [name]: value })
      t.equal(read !== undefined, accepted(value), `${name} = ${inspect(value)}`)
    }
  })
}
