import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { filesBelow } from '../harness/files.ts'
import { holds } from '../harness/holds.ts'
import { constructors, startedHosts, type Constructor } from './constructors.ts'
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
    t.equal(await rejection(one, { ...absent, ...one.valid }), 'accepted', one.where)
  }
})

t.test('rejects a misspelt option of every public function, and suggests the right name', async t => {
  for (const one of all) {
    for (const name of await knownOf(one)) {
      const misspelt = name.length < 4 ? `${name}x` : name.slice(0, 1) + name.slice(2)
      const message = await rejection(one, { ...one.valid, [misspelt]: undefined })
      t.match(
        message,
        `${one.where}: unknown option "${misspelt}", did you mean ${name}? Known options: `,
        one.where,
      )
    }
  }
})

t.test('rejects any other name', async t => {
  const table = await Promise.all(all.map(async one => ({ one, known: await knownOf(one) })))
  await holds(
    t,
    fc.asyncProperty(fc.constantFrom(...table), fc.string({ minLength: 1 }), async ({ one, known }, name) => {
      fc.pre(!known.includes(name) && name !== '__proto__')
      assert.match(await rejection(one, { ...one.valid, [name]: 1 }), /: unknown option /)
    }),
    { numRuns: 500 },
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
      t.equal(await rejection(one, given), `${where}: options must be an object, not ${kind}`)
    }
  }
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
