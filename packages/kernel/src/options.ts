import { nearestName, shownName } from './unknown-name.ts'

/** The member names of an options type, as an object. Leaving a name out does not compile. */
export type OptionNames<Options> = Readonly<Record<Options extends unknown ? keyof Options : never, true>>

/**
 * Returns the options if all their names are in `names`, and throws a `TypeError` otherwise: without the check a misspelt
 * option would silently have no effect. The error suggests the nearest known name and lists all of them. `where` begins the
 * error message: the function, and for nested options the path of the object, such as `createGuard limits[0]`. A known option
 * may be undefined.
 */
export function knownOptions<Options extends object>(
  where: string,
  options: Options,
  names: OptionNames<NoInfer<Options>>,
): Options {
  const given: unknown = options
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new TypeError(`${where}: options must be an object, not ${kindOf(given)}`)
  }
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(names, name))
      throw new TypeError(`${where}: ${unknownOption(name, Object.keys(names))}`)
  }
  return options
}

/**
 * Returns `value` if it is an integer from `least` to `most`, and throws a `TypeError` otherwise. The error names the option,
 * its bounds and the value. For a value of another type it names only the type, because the value may be a secret.
 */
export function integerOption(name: string, value: unknown, least: number, most: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most)
    return value as number
  const bounds = most === Infinity ? `of at least ${least}` : `from ${least} to ${most}`
  const given = typeof value === 'number' ? String(value) : kindOf(value)
  throw new TypeError(`${name} must be an integer ${bounds}, not ${given}`)
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : typeof value
}

function unknownOption(name: string, known: readonly string[]): string {
  const near = nearestName(name, known)
  const hint = near === undefined ? '.' : `, did you mean ${near}?`
  return `unknown option ${JSON.stringify(shownName(name))}${hint} Known options: ${known.join(', ')}`
}
