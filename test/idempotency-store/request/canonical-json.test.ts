import assert from 'node:assert/strict'
import { canonicalJson } from '#packages/idempotency-store/dist/request/canonical-json.js'
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'

t.test('writes the example of RFC 8785, section 3.2.4', t => {
  const text = `{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\"\\/",
    "literals": [null, true, false]
  }`
  t.equal(
    canonicalJson(JSON.parse(text)),
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  )
  t.end()
})

t.test('sorts members by UTF-16 code units, as RFC 8785, section 3.2.3, shows', t => {
  const names = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6']
  const value = Object.fromEntries(names.map(name => [name, 0]))
  t.same(Object.keys(JSON.parse(canonicalJson(value)) as object).toSorted(), names.toSorted())
  const order = [...canonicalJson(value).matchAll(/"(.*?)":/g)].map(([, name]) => JSON.parse(`"${name}"`))
  t.same(order, ['\r', '1', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33'])
  t.end()
})

t.test('writes the bytes of the library of an author of RFC 8785, or throws where it throws', t => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string(),
    fc.constant('\ud800'),
    fc.constant('__proto__'),
  )
  const values = fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 })
  const { value } = fc.letrec(tie => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      values,
      fc.array(tie('value')),
      fc.dictionary(text, tie('value')),
    ),
  }))
  const outcome = (write: (value: unknown) => string | undefined, given: unknown): unknown => {
    try {
      return write(given)
    } catch {
      return 'throws'
    }
  }
  fc.assert(
    fc.property(value, given => {
      const parsed: unknown = JSON.parse(JSON.stringify(given))
      assert.equal(outcome(canonicalJson, parsed), outcome(canonicalize, parsed))
    }),
    { numRuns: randomCases(600) },
  )
  t.end()
})
