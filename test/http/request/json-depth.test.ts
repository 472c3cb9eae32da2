// The depth of a body is counted before it is parsed: a body within the limit is never refused, one over it never parsed.
import { parseJsonObject } from '@gatewright/http'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'

const LEVELS = 32
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const parse = (text: string) => parseJsonObject(bytesOf(text), 'application/json')
/** The offset of the first bracket that is too deep, in bytes, as the message has it; undefined if the depth is not what is refused. */
function tooDeepAt(text: string): number | undefined {
  const parsed = parse(text)
  const at = parsed.ok ? undefined : /at most 32 levels .*; byte (\d+) /.exec(parsed.message)?.[1]
  return at === undefined ? undefined : Number(at) - 1
}

/** The levels of a parsed value, by recursion over what `JSON.parse` returned. */
function levelsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(levelsOf))
}

/** Texts with every sign that a scan could mistake: quotes, backslashes, brackets, escapes and characters of several bytes. */
const text = fc
  .array(
    fc.constantFrom('"', '\\', '[', ']', '{', '}', ':', ',', 'a', '\u00e9', '\u{1f4b8}', '\n', '\u2028'),
    {
      maxLength: 6,
    },
  )
  .map(parts => parts.join(''))
const leaf = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null), fc.constant([]), fc.constant({}))

/** Wraps a value in levels of arrays and objects, which have siblings before and after it. */
const wrapped = fc
  .tuple(leaf, fc.array(fc.tuple(fc.boolean(), text, leaf), { minLength: 26, maxLength: 38 }))
  .map(([inner, layers]) => {
    let value: unknown = inner
    for (const [isArray, name, sibling] of layers)
      value = isArray
        ? [sibling, value, sibling]
        : { [`${name}1`]: sibling, [`${name}2`]: value, [`${name}3`]: sibling }
    return value
  })

t.test('finds exactly the texts whose value has more levels than the limit', async t => {
  let deep = 0
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(wrapped, fc.jsonValue()),
      fc.constantFrom(undefined, 2, '\t'),
      async (value, indent) => {
        const json = JSON.stringify(value, undefined, indent)
        const isDeep = levelsOf(value) > LEVELS
        if (isDeep) deep++
        const at = tooDeepAt(json)
        if ((at !== undefined) !== isDeep) throw new Error(`${isDeep ? 'passes' : 'refuses'} ${json}`)
        if (at !== undefined && !'[{'.includes(String.fromCodePoint(bytesOf(json)[at] ?? 0)))
          throw new Error(`names no bracket of ${json}`)
      },
    ),
    { numRuns: randomCases(600) },
  )
  t.ok(deep > 0)
})

t.test('the verdict on any text is that of the parsed value', async t => {
  const token = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    '"a":',
    '"',
    '\\',
    '\\"',
    ',',
    '1',
    '"x"',
    ' ',
    '{"a":',
    '[[[[[[[[',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(token, { maxLength: 80 }), async parts => {
      const json = parts.join('')
      let value: unknown
      try {
        value = JSON.parse(json)
      } catch {
        // Not JSON: refused, whatever the reason.
        if (json !== '' && parse(json).ok) throw new Error(`accepts ${json}`)
        return
      }
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
      if (parse(json).ok !== (isObject && levelsOf(value) <= LEVELS)) throw new Error(json)
    }),
    { numRuns: randomCases(800) },
  )
  t.pass()
})

const nest = (levels: number, [open, close]: readonly [string, string], inner = '1'): string =>
  open.repeat(levels) + inner + close.repeat(levels)
const ARRAY = ['[', ']'] as const

t.test('names the member of the body that is nested too deep', async t => {
  const deep = nest(32, ARRAY)
  const cases: readonly [json: string, field: string][] = [
    [`{"a":1,"items":${deep}}`, 'items'],
    [`{"text":"items","b" : ${deep}}`, 'b'],
    [`{"a":{"b":1},"c":${nest(32, ['{"x":', '}'])}}`, 'c'],
    [`{"\\u0061bc":${deep}}`, 'abc'],
    [`{"a \\"quoted\\" name":${deep}}`, 'body'],
    [`{"${'n'.repeat(33)}":${deep}}`, 'body'],
    [`["a",${deep}]`, 'body'],
    [`{"a":"${'['.repeat(40)}","b":${deep}}`, 'b'],
    [nest(40, ARRAY), 'body'],
    [`{"a":${'['.repeat(40)}`, 'a'],
  ]
  for (const [json, field] of cases)
    t.match(parse(json), { ok: false, status: 400, field, message: /at most 32 levels/ }, json.slice(0, 40))
})

t.test('brackets in strings, and escapes before quotes, are no levels', async t => {
  for (const text of ['['.repeat(100), '{'.repeat(100), '\\', '"', '\\"'.repeat(50), `\\"${'['.repeat(50)}`])
    t.match(parse(JSON.stringify({ text, [text]: 1 })), { ok: true }, text.slice(0, 10))
  t.match(
    parse(`{"a":${nest(31, ARRAY)},"b":${nest(31, ARRAY)}}`),
    { ok: true },
    'levels of siblings do not add up',
  )
})

t.test('a megabyte of brackets is refused after 33 bytes, and costs less than to parse it', async t => {
  for (const sign of ['[', '{"a":']) {
    t.equal(tooDeepAt(sign.repeat(1_000_000 / sign.length)), 32 * sign.length)
  }
  const bytes = bytesOf('['.repeat(1_000_000))
  const cost = (act: () => unknown): number => {
    const { user } = process.cpuUsage()
    for (let n = 0; n < 20; n++) act()
    return process.cpuUsage().user - user
  }
  const scanned = cost(() => parseJsonObject(bytes, 'application/json'))
  const parsed = cost(() => {
    try {
      JSON.parse(new TextDecoder().decode(bytes))
    } catch {
      // Not complete.
    }
  })
  t.ok(scanned < parsed, `${scanned} and ${parsed} microseconds`)
})
