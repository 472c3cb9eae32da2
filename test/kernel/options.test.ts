import assert from 'node:assert/strict'
import { integerOption, knownOptions, type OptionNames } from '@gatewright/kernel'
import fc from 'fast-check'
import t from 'tap'
import { holds } from '../harness/holds.ts'

interface Options {
  readonly policies?: string | undefined
  readonly windowMs?: number
  readonly guard?: object
  readonly ttlMs?: number
}
const NAMES: OptionNames<Options> = { policies: true, windowMs: true, guard: true, ttlMs: true }
// @ts-expect-error -- A list that leaves an option out does not compile.
const INCOMPLETE: OptionNames<Options> = { policies: true, windowMs: true, guard: true }
const KNOWN = 'Known options: policies, windowMs, guard, ttlMs'

const messageOf = (options: unknown): string => {
  try {
    knownOptions('createThing', options as Options, NAMES)
  } catch (error) {
    assert.ok(error instanceof TypeError)
    return error.message
  }
  return 'accepted'
}

t.test('returns options whose names are all known, also with undefined values', async t => {
  const options = { policies: undefined, windowMs: 5 }
  t.equal(knownOptions<Options>('createThing', options, NAMES), options)
  t.equal(messageOf({}), 'accepted')
  t.equal(messageOf(Object.create(null)), 'accepted')
  t.same(Object.keys(INCOMPLETE), ['policies', 'windowMs', 'guard'])
})

t.test(
  'the error of an unknown option names the function, the nearest known name and all known ones',
  async t => {
    const expected = (name: string, near: string): string =>
      `createThing: unknown option "${name}", did you mean ${near}? ${KNOWN}`
    for (const [name, near] of [
      ['polices', 'policies'],
      ['windowMS', 'windowMs'],
      ['gaurd', 'guard'],
      ['ttl', 'ttlMs'],
      ['poli', 'policies'],
      ['Guard', 'guard'],
    ] as const) {
      t.equal(messageOf({ guard: {}, [name]: 1 }), expected(name, near))
    }
    t.equal(messageOf({ nothingLikeIt: 1 }), `createThing: unknown option "nothingLikeIt". ${KNOWN}`)
  },
)

t.test('rejects an unknown option with any value and any name', async t => {
  for (const name of ['polices', 'toString', 'constructor', '__proto__', '', 'x'.repeat(10_000)]) {
    const options: object = JSON.parse(`{${JSON.stringify(name)}:null}`) as object
    t.match(messageOf(options), /^createThing: unknown option "/, name.slice(0, 20))
    t.ok(messageOf(options).length < 200)
  }
  t.match(messageOf({ polices: undefined }), /unknown option "polices"/)
})

t.test('rejects options that are not an object', async t => {
  const kinds = [
    [undefined, 'undefined'],
    [null, 'null'],
    [[], 'an array'],
    ['text', 'string'],
    [7, 'number'],
    [() => ({}), 'function'],
  ] as const
  for (const [given, kind] of kinds) {
    t.equal(messageOf(given), `createThing: options must be an object, not ${kind}`)
  }
})

t.test('rejects a name with one edit, and suggests the known name', async t => {
  const names = fc.constantFrom('policies', 'windowMs', 'guard')
  const letter = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz')
  await holds(
    t,
    fc.property(names, fc.nat(), letter, fc.nat(3), (name, place, other, edit) => {
      const at = place % name.length
      const [head, tail] = [name.slice(0, at), name.slice(at)]
      const wrong =
        [head + other + tail, head + tail.slice(1), head + other + tail.slice(1)][edit] ??
        head + (tail[1] ?? '') + (tail[0] ?? '') + tail.slice(2)
      fc.pre(wrong !== name)
      assert.equal(
        messageOf({ [wrong]: 1 }),
        `createThing: unknown option "${wrong}", did you mean ${name}? ${KNOWN}`,
      )
    }),
  )
})

t.test('accepts integers within the bounds, and names option, bounds and value otherwise', t => {
  t.equal(integerOption('ttlMs', 1, 1, 3), 1)
  t.equal(integerOption('ttlMs', 3, 1, 3), 3)
  t.throws(
    () => integerOption('ttlMs', 4, 1, 3),
    new TypeError('ttlMs must be an integer from 1 to 3, not 4'),
  )
  t.throws(
    () => integerOption('ttlMs', 1.5, 1, 3),
    new TypeError('ttlMs must be an integer from 1 to 3, not 1.5'),
  )
  t.throws(
    () => integerOption('ttlMs', 'secret', 1, 3),
    new TypeError('ttlMs must be an integer from 1 to 3, not string'),
  )
  t.throws(
    () => integerOption('capacity', 0, 1, Number.POSITIVE_INFINITY),
    new TypeError('capacity must be an integer of at least 1, not 0'),
  )
  t.end()
})
