import fc from 'fast-check'
import t from 'tap'
import { holds } from '../../harness/holds.ts'
import * as internals from '../../harness/internals.ts'

const { unknownMembers, closed } = internals
const pathsIn = (schema: object | undefined, value: unknown): string[] =>
  [...unknownMembers(schema, value)].map(({ path }) => path.join('.'))

const objectOf = (properties: object): object => ({ type: 'object', properties })
const text = { type: 'string' }
const address = objectOf({ line1: text, line2: text })
const body = objectOf({
  name: text,
  address: { anyOf: [address, { type: 'null' }] },
  items: { type: 'array', items: objectOf({ id: text, address }) },
  policy: {},
  metadata: { type: 'object', properties: {}, additionalProperties: true },
  parameters: { type: 'object', patternProperties: { '^.*$': text } },
})

t.test(
  'finds unknown members inside objects, alternatives and lists, with the names that are known there',
  async t => {
    const value = {
      nam: 1,
      address: { line1: 'x', line3: 1 },
      items: [{ id: 'a', address: { line: 1 } }, { note: 1 }],
    }
    t.same(pathsIn(body, value), ['nam', 'address.line3', 'items.[].address.line', 'items.[].note'])
    t.same([...unknownMembers(body, { address: { zip: 1 } })][0]?.known, ['line1', 'line2'])
  },
)

t.test(
  'skips objects that are open: without named members, or with additional or pattern members',
  async t => {
    const any = { anything: { at: ['all'] } }
    t.same(pathsIn(body, { policy: any, metadata: any, parameters: any }), [])
    t.same(pathsIn({ ...objectOf({ name: text }), additionalProperties: true }, any), [])
  },
)

t.test('a value of another type than its schema has no unknown members', async t => {
  for (const value of [null, 7, 'text', [], [{ x: 1 }]]) t.same(pathsIn(body, value), [])
  t.same(pathsIn(body, { name: { x: 1 }, address: [{ x: 1 }], items: { x: 1 } }), [])
})

t.test('without a schema no member is known', async t => {
  t.same(pathsIn(undefined, { a: 1, b: { c: 1 } }), ['a', 'b'])
})

t.test('knows own names of the schema only', async t => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
  const value = JSON.parse(`{${names.map(name => `"${name}":{}`).join()}}`) as object
  t.same(pathsIn(body, value), names)
})

t.test('finds exactly the names that a schema does not have, whatever they are', async t => {
  const anyNames = fc.uniqueArray(fc.string(), { maxLength: 8 })
  await holds(
    t,
    fc.asyncProperty(anyNames, anyNames, async (known, others) => {
      const schema = objectOf(Object.fromEntries(known.map(name => [name, {}])))
      const unknown = others.filter(name => !known.includes(name))
      const value = Object.fromEntries([...known, ...unknown].map(name => [name, 1]))
      return JSON.stringify(pathsIn(schema, value).toSorted()) === JSON.stringify(unknown.toSorted())
    }),
  )
})

t.test('a closed schema says so for each object that names its members', async t => {
  t.match(closed(body), {
    additionalProperties: false,
    properties: {
      address: { anyOf: [{ additionalProperties: false }, { type: 'null' }] },
      items: { items: { additionalProperties: false } },
      metadata: { additionalProperties: true },
      parameters: { additionalProperties: undefined },
    },
  })
})
