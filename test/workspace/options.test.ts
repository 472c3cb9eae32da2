import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../harness/random-cases.ts'
import { filesBelow } from '../harness/files.ts'
import { holds } from '../harness/holds.ts'
import { constructors, startedHosts, type Constructor } from './constructors.ts'
import { optionRows } from './option-lists.ts'
import { packageNames } from './tree.ts'

async function rejection({ call }: Constructor, options: unknown): Promise<string> {
  try {
    await call(options as never)
  } catch (error) {
    assert.ok(error instanceof TypeError, String(error))
    return error.message
  }
  return 'accepted'
}

/** What a rejection lists as known. */
async function knownOf(one: Constructor): Promise<readonly string[]> {
  const message = await rejection(one, { ...one.valid, qqqqqqqqqqqqqqqq: 1 })
  const start = `${one.where}: unknown option "qqqqqqqqqqqqqqqq". Known options: `
  assert.ok(message.startsWith(start), `${one.where} says: ${message}`)
  return message.slice(start.length).split(', ')
}

const all = [...constructors, ...startedHosts]

t.test('accepts options that are spelt right, also with the value undefined', async t => {
  for (const one of constructors) {
    const known = await knownOf(one)
    const absent = Object.fromEntries(known.map(name => [name, undefined]))
    assert.equal(await rejection(one, { ...absent, ...one.valid }), 'accepted', one.where)
  }
  t.pass('every constructor accepted them')
})

t.test('rejects a misspelt option of every public function, and suggests the right name', async t => {
  for (const one of all) {
    for (const name of await knownOf(one)) {
      const misspelt = name.length < 4 ? `${name}x` : name.slice(0, 1) + name.slice(2)
      const message = await rejection(one, { ...one.valid, [misspelt]: undefined })
      const expected = `${one.where}: unknown option "${misspelt}", did you mean ${name}? Known options: `
      assert.ok(message.startsWith(expected), `${message} must begin with ${expected}`)
    }
  }
  t.pass('every name was suggested')
})

t.test('rejects any other name', async t => {
  const table = await Promise.all(all.map(async one => ({ one, known: await knownOf(one) })))
  await holds(
    t,
    fc.asyncProperty(fc.constantFrom(...table), fc.string({ minLength: 1 }), async ({ one, known }, name) => {
      fc.pre(!known.includes(name) && name !== '__proto__')
      assert.match(await rejection(one, { ...one.valid, [name]: 1 }), /: unknown option /)
    }),
    { numRuns: randomCases(500) },
  )
})

t.test('rejects options that are not an object with the same message', async t => {
  // A mode may also be a text.
  for (const one of all.filter(({ where }) => !where.endsWith(' mode'))) {
    for (const [given, kind] of [
      [null, 'null'],
      [[], 'an array'],
      [7, 'number'],
    ] as const) {
      const where = one.where.replace(/ \(.*/, '')
      assert.equal(await rejection(one, given), `${where}: options must be an object, not ${kind}`)
    }
  }
  t.pass('every function rejected them')
})

/** The spellings of a number in a docstring: with spaces from five digits on, or in units of 1024. */
function spellings(value: number): readonly string[] {
  const plain = value < 10_000 ? String(value) : String(value).replaceAll(/\B(?=(\d{3})+$)/g, ' ')
  const unit = Math.floor(Math.log2(value) / 10)
  const units = ['', ' KiB', ' MiB', ' GiB', ' TiB']
  return value > 0 && value % 1024 ** unit === 0 ? [plain, `${value / 1024 ** unit}${units[unit]}`] : [plain]
}

/** Whether a docstring says a number after a word, such as `default`. */
const says = (text: string, before: string, value: number, after: string): boolean =>
  spellings(value).some(spelling => new RegExp(`${before}${spelling}\\b${after}`, 'i').test(text))

t.test('the docstring of each integer option says its bounds and its default', async t => {
  let count = 0
  for (const one of constructors) {
    for (const name of await knownOf(one)) {
      const message = await rejection(one, { ...one.valid, [name]: NaN })
      const [, from, to, least, standard] =
        /(?:from (\d+) to (\d+)|of at least (\d+)), not NaN \(default (\d+)\)$/.exec(message) ?? []
      if (standard === undefined) continue
      count++
      const text = optionRows(one.where).find(row => row.name === name)?.text ?? ''
      const what = `${one.where} ${name}: ${message}; the docstring is "${text}"`
      assert.ok(says(text, 'default ', Number(standard), ''), what)
      if (to === undefined) assert.ok(says(text, 'at least ', Number(least), ''), what)
      else
        assert.ok(
          spellings(Number(to)).some(max => says(text, '', Number(from), ` to ${max}`)),
          what,
        )
    }
  }
  t.ok(count > 40, `${count} options`)
})

t.test('every public function that takes options is in the table', async t => {
  const surface = JSON.parse(readFileSync('test/workspace/exports.json', 'utf8')) as Record<
    string,
    { values: string[] }
  >
  const exported = new Set(Object.values(surface).flatMap(({ values }) => values))
  const takesOptions = packageNames().flatMap(folder =>
    filesBelow(`packages/${folder}/src`, '.ts').flatMap(path => {
      const text = readFileSync(path, 'utf8')
      const heads = text.matchAll(
        /^export (?:async )?function (\w+)(?:<[^(]*>)?\(([\s\S]*?)\)(?:: [^\n]*)?(?: \{)?$/gm,
      )
      return [...heads].flatMap(([, name = '', parameters = '']) =>
        exported.has(name) && /\w(Options|Claims|AliasTable)\b/.test(parameters) ? [name] : [],
      )
    }),
  )
  t.ok(takesOptions.length > 30, 'they were found')
  const inTable = new Set(all.map(({ where }) => where.split(' ')[0]))
  /** They take the table that `listAliases` checks. */
  const ofAliasTables = [
    'aliasReport',
    'assertNoShadowing',
    'createAliases',
    'dueAliases',
    'legacyPage',
    'legacyPaths',
    'listAliases',
  ]
  t.same(
    [...new Set(takesOptions)].filter(name => !inTable.has(name) && !ofAliasTables.includes(name)),
    [],
  )
})
