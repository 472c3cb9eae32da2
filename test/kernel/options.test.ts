import assert from 'node:assert/strict'
import { integerOption, checkOptions, type OptionTable } from '@gatewright/kernel/internal'
import fc from 'fast-check'
import t from 'tap'
import { holds } from '../harness/holds.ts'

interface Options {
  readonly policies?: string | undefined
  readonly windowMs?: number
  readonly guard?: object
  readonly ttlMs?: number
}
const NAMES: OptionTable<Options> = { policies: true, windowMs: true, guard: true, ttlMs: true }
// @ts-expect-error -- A list that leaves an option out does not compile.
const INCOMPLETE: OptionTable<Options> = { policies: true, windowMs: true, guard: true }
const KNOWN = 'Known options: policies, windowMs, guard, ttlMs'

const messageOf = (options: unknown): string => {
  try {
    checkOptions('createThing', options as Options, NAMES)
  } catch (error) {
    assert.ok(error instanceof TypeError)
    return error.message
  }
  return 'accepted'
}

t.test('returns options whose names are all known, also with undefined values', async t => {
  const options = { policies: undefined, windowMs: 5 }
  t.same(checkOptions('createThing', options as Options, NAMES), { windowMs: 5 })
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

interface Thing {
  readonly issuer: string
  readonly mode: 'on' | 'off'
  readonly run: () => number
  readonly windowMs?: number
  readonly isOpen?: boolean
  readonly report?: (line: string) => void
  readonly observe?: (line: string) => void
  readonly capacity?: number
  readonly algorithm?: 'A' | 'B'
}
const report = (): void => {}
const THING = {
  issuer: { is: 'text' },
  mode: { is: ['on', 'off'] },
  run: { is: 'function' },
  windowMs: { min: 10, max: 50, default: 20 },
  isOpen: { default: false },
  report: { default: report },
  observe: { is: 'function', default: undefined },
  capacity: { min: 1, max: Infinity, default: 7 },
  algorithm: { is: ['A', 'B'], default: 'B' },
} as const satisfies OptionTable<Thing>
// @ts-expect-error -- A default must be a value of the option.
const WRONG: OptionTable<Pick<Thing, 'algorithm'>> = { algorithm: { default: 'C' } }
const given: Thing = { issuer: 'a', mode: 'on', run: () => 1 }

t.test('fills in the defaults, and does not change the given options', async t => {
  const options: Thing = Object.freeze({ ...given, capacity: 9 })
  const { windowMs, ...others } = checkOptions('createThing', options, THING)
  const sum: number = windowMs + others.capacity
  t.equal(sum, 29)
  t.same(others, { ...given, isOpen: false, report, capacity: 9, algorithm: 'B' })
  t.equal('observe' in others, false)
  t.equal(WRONG.algorithm === true, false)
})

t.test('names the function, the option, what was expected and what came', async t => {
  const message = (changes: object): string => {
    try {
      checkOptions('createThing', { ...given, ...changes }, THING)
    } catch (error) {
      assert.ok(error instanceof TypeError)
      return error.message
    }
    return 'accepted'
  }
  for (const [changes, expected] of [
    [{ issuer: undefined }, 'issuer must be a non-empty string, not undefined'],
    [{ issuer: '' }, 'issuer must be a non-empty string, not an empty string'],
    [{ issuer: 7 }, 'issuer must be a non-empty string, not 7'],
    [{ mode: undefined }, 'mode must be "on" or "off", not undefined'],
    [{ mode: 'of' }, 'mode must be "on" or "off", not "of"'],
    [{ run: 'secret' }, 'run must be a function, not string'],
    [{ windowMs: 9 }, 'windowMs must be an integer from 10 to 50, not 9 (default 20)'],
    [{ windowMs: 51 }, 'windowMs must be an integer from 10 to 50, not 51 (default 20)'],
    [{ windowMs: 'secret' }, 'windowMs must be an integer from 10 to 50, not string (default 20)'],
    [{ windowMs: null }, 'windowMs must be an integer from 10 to 50, not null (default 20)'],
    [{ isOpen: 1 }, 'isOpen must be true or false, not 1'],
    [{ report: {} }, 'report must be a function, not object'],
    [{ observe: [] }, 'observe must be a function, not an array'],
    [{ capacity: 0 }, 'capacity must be an integer of at least 1, not 0 (default 7)'],
    [{ algorithm: 'C' }, 'algorithm must be "A" or "B", not "C"'],
  ] as const) {
    t.equal(message(changes), `createThing: ${expected}`)
  }
  t.equal(message({ windowMs: 10, isOpen: true, report: () => 1, observe: () => 2 }), 'accepted')
  t.equal(message({ windowMs: 50, capacity: Number.MAX_SAFE_INTEGER, algorithm: 'A' }), 'accepted')
})

t.test('a table with a name that is no option does not compile', async t => {
  // @ts-expect-error -- The option does not exist.
  t.same(checkOptions('createThing', { ttlMs: 1 }, { ttlMs: true, ttl: true }), {
    ttlMs: 1,
  })
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
