import fc from 'fast-check'

/** The parts of JSON Schema that the host's description uses for requests. */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly patternProperties?: object
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly pattern?: string
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
}

/** Stands for something that an earlier response named: the `at`-th of that name. */
export class Known {
  readonly name: string
  readonly at: number

  constructor(name: string, at: number) {
    this.name = name
    this.at = at
  }
}

const MAX_ITEMS = 3
/** Members whose values come from earlier responses. */
const IS_KNOWN = /Id$|^(?:id|walletAddress|cursor|code)$/

/** Draws values that a schema allows. Members that are ids of things which exist are `Known`; some values are those of the example. */
export function valuesOf(schema: Schema, name: string, example?: unknown): fc.Arbitrary<unknown> {
  const drawn = drawnOf(schema, name, example)
  if (IS_KNOWN.test(name)) {
    const known = fc.nat(1000).map(at => new Known(name, at))
    return fc.oneof({ weight: 7, arbitrary: known }, { weight: 1, arbitrary: drawn })
  }
  if (example === undefined || schema.properties) return drawn
  return fc.oneof({ weight: 2, arbitrary: fc.constant(example) }, { weight: 1, arbitrary: drawn })
}

function drawnOf(schema: Schema, name: string, example: unknown): fc.Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return fc.oneof(...choices.map(each => valuesOf(each, name, example)))
  const [type] = [schema.type ?? 'object'].flat()
  if (type === 'object') return objectsOf(schema, example)
  if (type === 'array') {
    const { items = {}, minItems: minLength = 0, maxItems = MAX_ITEMS } = schema
    const maxLength = Math.max(minLength, Math.min(maxItems, MAX_ITEMS))
    return fc.array(valuesOf(items, name), { minLength, maxLength })
  }
  if (type === 'integer' || type === 'number') return numbersOf(schema)
  if (type === 'boolean') return fc.boolean()
  return type === 'null' ? fc.constant(null) : textsOf(schema)
}

function objectsOf({ properties, required = [] }: Schema, example: unknown): fc.Arbitrary<unknown> {
  if (!properties)
    return fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 })
  const values = Object.entries(properties).map(
    ([name, each]) =>
      [name, valuesOf(each, name, (example as Record<string, unknown> | undefined)?.[name])] as const,
  )
  return fc.record(Object.fromEntries(values), { requiredKeys: [...required] })
}

function numbersOf({ minimum = 0, maximum = 1_000_000_000 }: Schema): fc.Arbitrary<number> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: minimum, max: Math.min(maximum, minimum + 3000) }) },
    { weight: 1, arbitrary: fc.constantFrom(minimum, maximum) },
  )
}

function textsOf({ pattern, format, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<string> {
  if (pattern !== undefined) {
    // fast-check cannot draw what a look-ahead leaves out; most of what it draws without is allowed.
    const drawable = pattern.replaceAll(/\(\?[=!][^()]*\)/g, '')
    return fc.stringMatching(new RegExp(drawable, 'u'), { size: 'small' })
  }
  if (format === 'date-time') {
    const range = { min: new Date('2026-01-01'), max: new Date('2031-01-01'), noInvalidDate: true }
    return fc.date(range).map(date => date.toISOString())
  }
  const length = { minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) }
  return fc.string(format === 'name' ? length : { ...length, unit: 'grapheme' })
}

/** Values that a member seldom allows. */
const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e21,
  Number.MAX_SAFE_INTEGER,
  '',
  ' ',
  '0x',
  '\0',
  '\ud800',
  '__proto__',
  'ﷺ'.repeat(100),
  '2026-02-30T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '-1',
  '1e999',
  [],
  [null],
  {},
  { toString: 1, __proto__: null },
]

/** How one place of a value is broken: which place, and what stands there; undefined removes it. */
export interface Break {
  readonly place: number
  readonly odd: unknown
}
export const breaks: fc.Arbitrary<Break> = fc.record({
  place: fc.nat(1000),
  odd: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...ODD_VALUES) },
    { weight: 2, arbitrary: fc.constant(undefined) },
    { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  ),
})

type Place = readonly (string | number)[]
function placesOf(value: unknown, at: Place = []): Place[] {
  if (typeof value !== 'object' || value === null || value instanceof Known) return [at]
  return [at, ...Object.entries(value).flatMap(([name, each]) => placesOf(each, [...at, name]))]
}

function replaced(value: unknown, [name, ...rest]: Place, odd: unknown): unknown {
  if (name === undefined) return odd
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }) as Record<
    string,
    unknown
  >
  copy[name] = replaced(copy[name], rest, odd)
  return copy
}

/** The value with one place broken. */
export function broken(value: unknown, { place, odd }: Break): unknown {
  const places = placesOf(value)
  return replaced(value, places[place % places.length] as Place, odd)
}
