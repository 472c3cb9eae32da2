import fc from 'fast-check'
import t from 'tap'
import * as Type from 'typebox/type'
import { holds } from '../../harness/holds.ts'
import { internals } from '../../harness/internals.ts'

const { unknownMembers, closed } = internals
const pathsIn = (schema: object | undefined, value: unknown): string[] =>
  [...unknownMembers(schema, value)].map(({ path }) => path.join('.'))

const Address = Type.Object({ line1: Type.String(), line2: Type.Optional(Type.String()) })
const Body = Type.Object({
  name: Type.String(),
  address: Type.Union([Address, Type.Null()]),
  items: Type.Array(Type.Object({ id: Type.String(), address: Address })),
  policy: Type.Unknown(),
  metadata: Type.Object({}, { additionalProperties: true }),
  parameters: Type.Record(Type.String(), Type.String()),
})

t.test(
  'finds unknown members inside objects, alternatives and lists, with the names that are known there',
  async t => {
    const value = {
      ...{ nam: 1, address: { line1: 'x', line3: 1 } },
      items: [{ id: 'a', address: { line: 1 } }, { note: 1 }],
    }
    t.same(pathsIn(Body, value), ['nam', 'address.line3', 'items.[].address.line', 'items.[].note'])
    t.same([...unknownMembers(Body, { address: { zip: 1 } })][0]?.known, ['line1', 'line2'])
  },
)

t.test(
  'skips objects that are open: without named members, or with additional or pattern members',
  async t => {
    const any = { anything: { at: ['all'] } }
    t.same(pathsIn(Body, { policy: any, metadata: any, parameters: any }), [])
    t.same(pathsIn(Type.Object({ name: Type.String() }, { additionalProperties: true }), any), [])
  },
)

t.test('a value of another type than its schema has no unknown members', async t => {
  for (const value of [null, 7, 'text', [], [{ x: 1 }]]) t.same(pathsIn(Body, value), [])
  t.same(pathsIn(Body, { name: { x: 1 }, address: [{ x: 1 }], items: { x: 1 } }), [])
})

t.test('without a schema no member is known', async t => {
  t.same(pathsIn(undefined, { a: 1, b: { c: 1 } }), ['a', 'b'])
})

t.test('knows own names of the schema only', async t => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
  const value = JSON.parse(`{${names.map(name => `"${name}":{}`).join()}}`) as object
  t.same(pathsIn(Body, value), names)
})

t.test('finds exactly the names that a schema does not have, whatever they are', async t => {
  const anyNames = fc.uniqueArray(fc.string(), { maxLength: 8 })
  await holds(
    t,
    fc.asyncProperty(anyNames, anyNames, async (known, others) => {
      const schema = Type.Object(Object.fromEntries(known.map(name => [name, Type.Unknown()])))
      const unknown = others.filter(name => !known.includes(name))
      const value = Object.fromEntries([...known, ...unknown].map(name => [name, 1]))
      return JSON.stringify(pathsIn(schema, value).toSorted()) === JSON.stringify(unknown.toSorted())
    }),
  )
})

t.test('a closed schema says so for each object that names its members', async t => {
  t.match(closed(Body), {
    additionalProperties: false,
    properties: {
      address: { anyOf: [{ additionalProperties: false }, { type: 'null' }] },
      items: { items: { additionalProperties: false } },
      metadata: { additionalProperties: true },
      parameters: { additionalProperties: undefined },
    },
  })
})
