/**
 * The shape of one scope name: lower-case words joined by dots, the last one the verb (`cards.secrets.read`).
 * A subset of `scope-token` in RFC 6749 section 3.3, so names join by spaces in a token's `scope` claim.
 */
const SCOPE = /^[a-z][a-z0-9-]*(?:\.[a-z][a-z0-9-]*)+$/

/** A closed list of scope names. `S` is their literal union, so a misspelt scope does not compile. */
export interface ScopeCatalogue<S extends string> {
  readonly names: readonly S[]
  /** Whether a name from outside is one of the list. */
  has(name: string): name is S
}

/** Declares a catalogue. Throws a `TypeError` at construction for an empty, repeated or misshapen name. */
export function scopeCatalogue<const S extends string>(names: readonly S[]): ScopeCatalogue<S> {
  const set = new Set<string>(names)
  for (const name of names) {
    if (!SCOPE.test(name)) throw new TypeError(`scope "${name}" must be lower-case words joined by dots`)
  }
  if (set.size === 0 || set.size !== names.length) throw new TypeError('scopes must be given, each once')
  return Object.freeze({
    names: Object.freeze([...names]),
    has: (name: string): name is S => set.has(name),
  })
}

/** The members of `wanted` that `held` lacks, in the order asked. Empty means: within. */
export function missingScopes(wanted: readonly string[], held: readonly string[]): string[] {
  return wanted.filter(name => !held.includes(name))
}
