/** A surrogate without its other half, which is no character and has no form in UTF-8. */
const LONE_SURROGATE = /\p{Surrogate}/u

/**
 * Writes what `JSON.parse` returned in the form of RFC 8785, where equal values are equal texts: members sorted by UTF-16 code units, no
 * white space, numbers and strings as `JSON.stringify` writes them. Throws a `TypeError` for a string with a lone surrogate.
 *
 * It is written here because stores keep fingerprints of these bytes, so they never change, and because every loader must find it.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return scalar(value)
  const members = Object.keys(value)
    .toSorted()
    .map(name => `${scalar(name)}:${canonicalJson((value as Record<string, unknown>)[name])}`)
  return `{${members.join(',')}}`
}

function scalar(value: unknown): string {
  if (typeof value === 'string' && LONE_SURROGATE.test(value)) throw new TypeError('a lone surrogate')
  return JSON.stringify(value)
}
