import { nearestName, shownName } from './unknown-name.ts'

/** The names of all options of a type, also of a union. */
type NameOf<Options> = Options extends unknown ? keyof Options : never
type ValueOf<Options, Name> = Options extends unknown
  ? Name extends keyof Options
    ? Options[Name]
    : never
  : never

/**
 * What one option must be. `min` and `max`: an integer within these bounds. `is`: a function, an object, a non-empty string, or one of the
 * listed values. With `default` the option may be absent, and a value must be of the default's type if nothing else says what it
 * must be. `true`: the code that uses the option checks it.
 */
type OptionRule<Value> =
  | true
  | { readonly min: number; readonly max: number; readonly default?: Value }
  | { readonly is: 'function' | 'object' | 'text' | readonly Value[]; readonly default?: Value }
  | { readonly default: Value }

/** The declaration of an options type: a rule for each option. Leaving an option out does not compile. */
export type OptionTable<Options> = {
  readonly [Name in NameOf<Options>]-?: OptionRule<ValueOf<Options, Name>>
}

/** Options whose defaults are filled in. */
type WithDefaults<Options, Table> = Options & {
  readonly [Name in keyof Options & keyof Table as Table[Name] extends { readonly default: {} | null }
    ? Name
    : never]-?: Exclude<Options[Name], undefined>
}

/**
 * Checks options by their declaration and returns them with defaults. Throws a `TypeError` for an unknown name, because a misspelt
 * option would silently have no effect, and for a value that its rule does not accept. The error names the function, the option,
 * what was expected and what came; of a value of the wrong type it names only the type, because the value may be a secret.
 * `where` begins the error message: the function, and for nested options the path of the object, such as `createGuard limits[0]`.
 * A known option may be undefined.
 */
export function checkOptions<Options extends object, const Table extends OptionTable<Options>>(
  where: string,
  options: Options,
  table: Table & Readonly<Record<Exclude<keyof Table, NameOf<Options>>, never>>,
): WithDefaults<Options, Table> {
  const given: unknown = options
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new TypeError(`${where}: options must be an object, not ${kindOf(given)}`)
  }
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(table, name)) {
      throw new TypeError(`${where}: ${unknownOption(name, Object.keys(table))}`)
    }
  }
  const values = given as Readonly<Record<string, unknown>>
  const checked: Record<string, unknown> = {}
  for (const [name, rule] of Object.entries<OptionRule<unknown>>(table)) {
    const value = rule === true ? values[name] : checkedValue(`${where}: ${name}`, values[name], rule)
    if (value !== undefined) checked[name] = value
  }
  return checked as WithDefaults<Options, Table>
}

function checkedValue(name: string, value: unknown, rule: Exclude<OptionRule<unknown>, true>): unknown {
  if (value === undefined && 'default' in rule) return rule.default
  if ('min' in rule) return checkedInteger(name, value, rule as IntegerRule)
  const expected = 'is' in rule ? rule.is : kindOf(rule.default)
  if (typeof expected === 'object') {
    if (expected.includes(value)) return value
    const given = typeof value === 'string' ? JSON.stringify(shownName(value)) : shown(value)
    throw new TypeError(`${name} must be ${listed(expected)}, not ${given}`)
  }
  if (expected === 'text' ? typeof value === 'string' && value !== '' : kindOf(value) === expected)
    return value
  throw new TypeError(`${name} must be ${EXPECTED[expected] ?? expected}, not ${shown(value)}`)
}

/** What an error calls values of a kind. */
const EXPECTED: Readonly<Record<string, string>> = {
  boolean: 'true or false',
  function: 'a function',
  object: 'an object',
  string: 'a string',
  text: 'a non-empty string',
}

/**
 * Returns `value` if it is an integer from `min` to `max`, and throws a `TypeError` otherwise. The error names the option,
 * its bounds and the value. For bounds that depend on another option; a table of `checkOptions` has the others.
 */
export function integerOption(name: string, value: unknown, min: number, max: number): number {
  return checkedInteger(name, value, { min, max })
}

interface IntegerRule {
  readonly min: number
  readonly max: number
  readonly default?: number
}

function checkedInteger(name: string, value: unknown, rule: IntegerRule): number {
  const { min, max, default: standard } = rule
  if (Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max)
    return value as number
  const bounds = max === Infinity ? `of at least ${min}` : `from ${min} to ${max}`
  const hint = standard === undefined ? '' : ` (default ${standard})`
  throw new TypeError(`${name} must be an integer ${bounds}, not ${shown(value)}${hint}`)
}

function listed(values: readonly unknown[]): string {
  const texts = values.map(value => JSON.stringify(value))
  return `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`
}

/** A number or the empty text as it is, and the type of anything else, because the value may be a secret. */
function shown(value: unknown): string {
  if (value === '') return 'an empty string'
  return typeof value === 'number' ? String(value) : kindOf(value)
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : typeof value
}

function unknownOption(name: string, known: readonly string[]): string {
  const near = nearestName(known)(name)
  const hint = near === undefined ? '.' : `, did you mean ${near}?`
  return `unknown option ${JSON.stringify(shownName(name))}${hint} Known options: ${known.join(', ')}`
}
