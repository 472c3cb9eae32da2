import { storableText } from './storable-text.ts'

/** The longest name that an error or a response repeats as it is, in characters (UTF-16 code units). */
const LONGEST_SHOWN = 32
/** How much of a longer name is repeated: of an API key only what kind of key it is. */
const SHOWN_OF_LONGER = 16
/** How many characters of a given name are compared. */
const MOST_COMPARED = 64
/** How many edits lead to a known name at most. */
const MOST_EDITS = 3

/**
 * Shortens a name that a client sent, for errors and responses that repeat it. A name of more than 32 characters may be a secret that was
 * pasted in the wrong place, so only its first 16 are shown, and `…`. NUL and lone surrogates become U+FFFD, because logs are stored.
 */
export function shownName(name: string): string {
  return name.length <= LONGEST_SHOWN
    ? storableText(name, LONGEST_SHOWN)
    : `${storableText(name, SHOWN_OF_LONGER)}…`
}

/**
 * Makes the message for an unknown name. It suggests the nearest known name, or lists all of them if none is near: `is not a
 * known member; did you mean scopes?`. `what` is the kind of name, such as `member`. The message does not repeat the name.
 */
export function unknownName(what: string, name: string, known: readonly string[]): string {
  const near = nearestName(known)(name)
  if (near !== undefined) return `is not a known ${what}; did you mean ${near}?`
  return `is not a known ${what}; known: ${known.length === 0 ? 'none' : known.join(', ')}`
}

/**
 * Makes a function that finds the known name with the fewest edits, ignoring case: insertions, deletions, replacements and swaps of
 * neighbours. At most a third of the known name's length and 3 edits are allowed, or any number if the given name is its beginning
 * (`window` for `windowSeconds`), or begins with all but its last letter (`policies` for `policy`). Of equally near names the first is
 * taken. Only the first 64 characters of the given name are compared. Strangers cause such calls, so it rules out most names at little cost.
 */
export function nearestName(known: readonly string[]): (name: string) => string | undefined {
  const candidates = known.map(candidate => {
    const to = candidate.toLowerCase()
    return { candidate, to, letters: lettersOf(to) }
  })
  return name => {
    const from = name.slice(0, MOST_COMPARED).toLowerCase().slice(0, MOST_COMPARED)
    const fromLetters = lettersOf(from)
    let best: string | undefined
    let fewest = Infinity
    for (const { candidate, to, letters } of candidates) {
      const related = editsOfRelated(from, to)
      const most = Math.min(MOST_EDITS, Math.ceil(to.length / 3), fewest - 1)
      // Each edit changes for at most two letters whether they are in the text.
      const mayBeNear = Math.abs(from.length - to.length) <= most && bitsIn(fromLetters ^ letters) <= 2 * most
      const edits = related ?? (mayBeNear ? editsBetween(from, to, most) : Infinity)
      if (edits < fewest) {
        best = candidate
        fewest = edits
      }
    }
    return best
  }
}

/** Counts the edits to a known name that begins with the given one, or whose start does. Undefined: neither. */
function editsOfRelated(from: string, to: string): number | undefined {
  if (from.length > 2 && to.startsWith(from)) return to.length - from.length
  const last = to.length - 1
  if (to.length <= 3 || !from.startsWith(to.slice(0, -1))) return undefined
  const rest = from.slice(last)
  return rest.includes(to.slice(-1)) ? rest.length - 1 : Math.max(rest.length, 1)
}

/** Returns the letters of a text as bits. Different letters may share a bit. */
function lettersOf(text: string): number {
  let bits = 0
  for (let at = 0; at < text.length; at++) bits |= 1 << (text.charCodeAt(at) & 31)
  return bits
}

/** Rows of the table of edits, for texts whose lengths differ by at most `MOST_EDITS`. */
const WIDTH = MOST_COMPARED + MOST_EDITS + 1
const ROWS = [0, 1, 2].map(() => new Uint8Array(WIDTH))

/** Counts the edits between two texts whose lengths differ by at most `most`. Infinity: more than `most`. */
function editsBetween(from: string, to: string, most: number): number {
  const tooMany = most + 1
  let [before, last, next] = ROWS as [Uint8Array, Uint8Array, Uint8Array]
  for (let column = 0; column <= to.length; column++) last[column] = Math.min(column, tooMany)
  for (let row = 1; row <= from.length; row++) {
    // Cells further from the diagonal than `most` need more edits.
    const first = Math.max(1, row - most)
    const end = Math.min(to.length, row + most)
    next.fill(tooMany)
    if (row <= most) next[0] = row
    for (let column = first; column <= end; column++) {
      const same = from.charCodeAt(row - 1) === to.charCodeAt(column - 1)
      let edits = Math.min(
        (last[column] as number) + 1,
        (next[column - 1] as number) + 1,
        (last[column - 1] as number) + (same ? 0 : 1),
        tooMany,
      )
      const isSwap =
        row > 1 &&
        column > 1 &&
        from.charCodeAt(row - 1) === to.charCodeAt(column - 2) &&
        from.charCodeAt(row - 2) === to.charCodeAt(column - 1)
      if (isSwap) edits = Math.min(edits, (before[column - 2] as number) + 1)
      next[column] = edits
    }
    ;[before, last, next] = [last, next, before]
  }
  const edits = last[to.length] as number
  return edits > most ? Infinity : edits
}

/** Counts the bits of a number. */
function bitsIn(bits: number): number {
  let count = 0
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1
  return count
}
