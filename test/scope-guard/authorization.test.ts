// What counts as a credential (RFC 6750 sections 2.1 and 3.1, RFC 9110 section 11.4): none is 401 without an error code, a malformed one
// 400 `invalid_request`, and a well-formed one is verified.
import fc from 'fast-check'
import t from 'tap'
import { memoryNonces } from '@gatewright/signature-verifier/memory'
import { bench, field } from './issuer.ts'

const rule = { operation: 'cards.list', allOf: ['cards.read'] }
const dpop = { nonces: memoryNonces(), origin: 'https://api.test' } as const
const GUARDS = { bearer: {}, dpop: { dpop }, 'dpop required': { dpop: { ...dpop, required: true } } } as const

/** The kinds of fields: `T` stands for a valid token. By guard: the status, and the error code of the challenge. */
const NONE = [401, undefined] as const
const MALFORMED = [400, 'invalid_request'] as const
const ACCEPTED = [200, undefined] as const
const INVALID = [401, 'invalid_token'] as const

const CASES: readonly [text: string | undefined, expected: readonly [number, string | undefined]][] = [
  [undefined, NONE],
  ['', NONE],
  ['Basic dXNlcjpwYXNz', NONE],
  ['T', NONE],
  ['BearerT', NONE],
  ['Bearers T', NONE],
  ['Scheme T', NONE],
  ['Digest username="a", realm="b"', NONE],
  ['Bearer', MALFORMED],
  ['Bearer ', MALFORMED],
  ['bearer', MALFORMED],
  ['Bearer   ', MALFORMED],
  ['Bearer T T', MALFORMED],
  ['Bearer a b', MALFORMED],
  ['Bearer T ', MALFORMED],
  ['Bearer\tT', MALFORMED],
  ['Bearer:T', MALFORMED],
  ['Bearer: T', MALFORMED],
  ['Bearer "T"', MALFORMED],
  ['Bearer <T>', MALFORMED],
  ['Bearer token="T"', MALFORMED],
  ['Bearer Bearer T', MALFORMED],
  ['Bearer T, Bearer T', MALFORMED],
  ['Bearer T,Basic dXNlcjpwYXNz', MALFORMED],
  ['Basic dXNlcjpwYXNz, Bearer T', MALFORMED],
  ['Bearer Tä', MALFORMED],
  ['Bearer =T', MALFORMED],
  ['Bearer null', INVALID],
  ['Bearer abc==', INVALID],
  ['Bearer mF_9.B5f-4.1JqM', INVALID],
  ['Bearer T', ACCEPTED],
  ['bearer T', ACCEPTED],
  ['BEARER T', ACCEPTED],
  ['Bearer  T', ACCEPTED],
]

for (const [name, options] of Object.entries(GUARDS))
  t.test(`a guard with ${name}: 401 without a credential, 400 for a malformed one`, async t => {
    const { guard, bearer } = await bench(options)
    const token = (await bearer()).slice('Bearer '.length)
    for (const [text, [status, error]] of CASES) {
      const authorization = text?.replaceAll('T', token)
      const facts = { authorization, method: 'GET', url: '/cards' }
      // A token that the guard has seen before must not be accepted in a malformed field.
      for (const verdict of [await guard.check(facts, rule), await guard.check(facts, rule)]) {
        if (status === 200 && name !== 'dpop required') {
          t.ok(verdict.ok, String(text))
          continue
        }
        const expected = status === 200 ? [401, 'invalid_token'] : [status, error]
        const challenge = verdict.ok ? undefined : field(verdict.headers, 'www-authenticate')
        t.same(
          [verdict.ok || verdict.status, /error="(\w+)"/.exec(challenge ?? '')?.[1]],
          expected,
          String(text),
        )
        if (verdict.ok || status !== 400) continue
        t.match(verdict, { code: 'invalid_request', field: 'authorization', reason: 'malformed credential' })
        t.equal(challenge?.split(' ')[0], name === 'dpop required' ? 'DPoP' : 'Bearer')
        t.notMatch(JSON.stringify(verdict), token, 'shows no token')
      }
    }
  })

t.test(
  'the scheme DPoP alone is malformed for a guard with the option dpop, and unknown without',
  async t => {
    const codeOf = async (options: object, authorization: string) => {
      const verdict = await (await bench(options)).guard.check(
        { authorization, method: 'GET', url: '/' },
        rule,
      )
      return verdict.ok ? 200 : [verdict.status, field(verdict.headers, 'www-authenticate')?.slice(0, 10)]
    }
    for (const authorization of ['DPoP', 'dpop ', 'DPoP a b', 'DPoP a, DPoP b']) {
      t.same(await codeOf({ dpop }, authorization), [400, 'DPoP realm'], authorization)
      t.same(await codeOf({}, authorization), [401, 'Bearer rea'], authorization)
    }
    t.same(await codeOf({ dpop }, 'Bearer a, DPoP b'), [400, 'Bearer rea'])
  },
)

t.test(
  'a field of more than 65,536 characters is not searched: what follows its scheme is too long',
  async t => {
    const outcomeOf = async (options: object, authorization: string) => {
      const verdict = await (await bench(options)).guard.check({ authorization }, rule)
      return verdict.ok || [verdict.status, verdict.reason]
    }
    const TOO_LONG = [401, 'token too long']
    const MISSING = await outcomeOf({}, 'Basic a')
    for (const end of ['', '!', ' x', ', Bearer x']) {
      const long = 'x'.repeat(65_536) + end
      for (const scheme of ['Bearer', 'bearer', 'Bearer ', 'DPoP'])
        t.same(await outcomeOf({ dpop }, `${scheme} ${long}`), TOO_LONG, scheme + end)
      t.same(await outcomeOf({}, `Bearer ${long}`), TOO_LONG, end)
      for (const scheme of ['DPoP', 'Basic', 'Bearers'])
        t.same(await outcomeOf({}, `${scheme} ${long}`), MISSING, scheme)
    }
    const searched = 'x'.repeat(65_536 - 'Bearer '.length - 1)
    t.same(await outcomeOf({}, `Bearer ${searched}!`), [400, 'malformed credential'])
  },
)

t.test('exactly the fields of RFC 6750 section 2.1 are verified, whatever their spelling', async () => {
  const { guard, bearer } = await bench()
  const token = (await bearer()).slice('Bearer '.length)
  const part = fc.constantFrom('Bearer', 'bEaReR', ' ', '  ', '\t', ',', '"', '=', token, 'x', 'Basic', '')
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 5 }), async parts => {
      const authorization = parts.join('')
      const verdict = await guard.check({ authorization }, rule)
      const wellFormed = /^bearer +[A-Za-z0-9._~+/-]+=*$/i.test(authorization)
      const named = /(?:^|,[ \t]*)bearer(?![\w!#$%&'*+.^`|~-])/i.test(authorization)
      const given = wellFormed ? authorization.replace(/^bearer +/i, '') : undefined
      const expected = given === undefined ? (named ? 400 : 401) : given === token ? 200 : 401
      if ((verdict.ok ? 200 : verdict.status) !== expected)
        throw new Error(`expected ${expected} for ${JSON.stringify(authorization)}`)
    }),
    { numRuns: 300 },
  )
})
