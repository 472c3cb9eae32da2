/** How many characters (UTF-16 code units) of a name that a client sent an error or a response repeats. */
const MAX_SHOWN = 64

/** Shortens a name that a client sent to the 64 characters that an error or a response repeats. A surrogate pair is never split. */
export function shownName(name: string): string {
  return name.length <= MAX_SHOWN ? name : name.slice(0, MAX_SHOWN).replace(/[\ud800-\udbff]$/, '')
}

/**
 * Makes the message for an unknown name. It suggests the nearest known name, or lists all of them if none is near: `is not a
 * known member; did you mean scopes?`. `what` is the kind of name, such as `member`. The message does not repeat the name.
 */
export function unknownName(what: string, name: string, known: readonly string[]): string {
  const near = nearestName(name, known)
  if (near !== undefined) return `is not a known ${what}; did you mean ${near}?`
  return `is not a known ${what}; known: ${known.length === 0 ? 'none' : known.join(', ')}`
}

/**
 * Finds the known name with the fewest edits, ignoring case. At most a third of the known name's length and 3 edits are
 * allowed, or any number if the given name is its beginning (`window` for `windowSeconds`), or begins with all but its last
 * letter (`policies` for `policy`). Only the first 64 characters of the given name are compared.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const from = shownName(name).toLowerCase()
  let best: string | undefined
  let fewest = Infinity
  for (const candidate of known) {
    const to = candidate.toLowerCase()
    const edits = editsBetween(from, to)
    const isLonger = to.length > 3 && from.startsWith(to.slice(0, -1))
    const isStart = from.length > 2 && to.startsWith(from)
    if (edits < fewest && (isStart || isLonger || edits <= Math.min(3, Math.ceil(to.length / 3)))) {
      best = candidate
      fewest = edits
    }
  }
  return best
}

/** Counts the edits from one text to the other: insertions, deletions, replacements and swaps of neighbours. */
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
