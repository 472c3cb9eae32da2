/** `scope-token` of RFC 6749 section 3.3, so a token's `scope` claim can join names by spaces. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/

/** Whether a value is a scope name: printable ASCII without space, quote and backslash. */
export function isScope(value: unknown): value is string {
  return typeof value === 'string' && SCOPE.test(value)
}

/** A closed list of scope names. `S` is the union of the names, so a misspelt scope does not compile. */
export interface ScopeCatalogue<S extends string> {
  readonly names: readonly S[]
  /** Whether a name is in the list. */
  has(name: string): name is S
}

/** Makes a scope catalogue. Throws a `TypeError` for an empty list and for malformed or repeated names. */
export function scopeCatalogue<const S extends string>(names: readonly S[]): ScopeCatalogue<S> {
  const set = new Set<string>(names)
  for (const name of names) {
    if (!isScope(name))
      throw new TypeError(
        `a scope must be one or more printable ASCII characters without space, quote and backslash, got ${JSON.stringify(name)}`,
      )
  }
  if (set.size === 0 || set.size !== names.length) {
    throw new TypeError('scopes must be a list of at least one name, without repeats')
  }
  return Object.freeze({
    names: Object.freeze([...names]),
    has: (name: string): name is S => set.has(name),
  })
}

/** Returns the scopes of `requested` that `granted` lacks, in the order of `requested`. */
export function missingScopes(requested: readonly string[], granted: readonly string[]): string[] {
  return requested.filter(name => !granted.includes(name))
}
