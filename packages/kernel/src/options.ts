/** The names of the members of an options type, every member of a union included. A name that is left out does not compile. */
export type OptionNames<Options> = Readonly<Record<Options extends unknown ? keyof Options : never, true>>

/**
 * Refuses options with a name that is not in `names`: a misspelt option would otherwise count as absent, and what it was to
 * switch on would be off. Returns the options. `where` names the function, and inside it the object: `createGuard limits[0]`.
 * A known option may be undefined. Throws a `TypeError` for anything that is not an object, and for an unknown option
 * whatever its value; it says which name is near and which are known.
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
 * Returns `value` when it is an integer from `least` to `most`. Throws a `TypeError` that names the option, its bounds and what was
 * given; of another type only the type, since it may be a secret in the wrong place.
 */
export function integerOption(name: string, value: unknown, least: number, most: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most)
    return value as number
  const bounds = most === Number.POSITIVE_INFINITY ? `of at least ${least}` : `from ${least} to ${most}`
  const given = typeof value === 'number' ? String(value) : kindOf(value)
  throw new TypeError(`${name} must be an integer ${bounds}, not ${given}`)
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : typeof value
}

function unknownOption(name: string, known: readonly string[]): string {
  const shown = name.slice(0, 64)
  const near = nearest(shown, known)
  const hint = near === undefined ? '.' : `, did you mean ${near}?`
  return `unknown option ${JSON.stringify(shown)}${hint} Known options: ${known.join(', ')}`
}

/**
 * The known name that takes the fewest edits, if they are few for its length or only add its end (`window` for
 * `windowSeconds`). Upper and lower case are not told apart.
 */
function nearest(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined
  let fewest = Infinity
  for (const candidate of known) {
    const [from, to] = [name.toLowerCase(), candidate.toLowerCase()]
    const edits = editsBetween(from, to)
    const isStart = from.length > 2 && to.startsWith(from)
    if (edits < fewest && (isStart || edits <= Math.min(3, Math.ceil(to.length / 3)))) {
      best = candidate
      fewest = edits
    }
  }
  return best
}

/** How many insertions, deletions, replacements and exchanges of neighbours lead from one text to the other. */
function editsBetween(from: string, to: string): number {
  let before: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const next = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      const swapped = row > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      next[column] = Math.min(
        (last[column] as number) + 1,
        (next[column - 1] as number) + 1,
        (last[column - 1] as number) + (same ? 0 : 1),
        swapped ? (before[column - 2] as number) + 1 : Infinity,
      )
    }
    before = last
    last = next
  }
  return last[to.length] as number
}
