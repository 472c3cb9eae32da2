/** The most levels of nested objects and arrays of a body, including the outermost. */
export const MAX_LEVELS = 32

/** Where a JSON text is nested too deep. */
interface TooDeep {
  /** The name of the outermost object's member that is nested too deep, in the bytes as sent; undefined in an array. */
  readonly member: Uint8Array | undefined
  /** The offset of the first bracket that is too deep, in bytes. */
  readonly at: number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b
const OPEN_BRACKET = 0x5b
const CLOSE_BRACE = 0x7d
const CLOSE_BRACKET = 0x5d

/**
 * Finds the first object or array of a JSON text below `MAX_LEVELS`, before the text is parsed: what is nested too deep would cost the
 * memory of all its levels first. It reads each byte once, and none after the first that is too deep. All bytes of JSON's own signs are
 * below 0x80, so they are no part of another character in UTF-8. For text that is not JSON the result says nothing: parse it then.
 */
export function findTooDeep(bytes: Uint8Array): TooDeep | undefined {
  let level = 0
  let isObject = false
  let member: Uint8Array | undefined
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      const end = endOfString(bytes, at)
      // The last string of the outermost object before a bracket is the name of its member.
      if (level === 1 && isObject) member = bytes.subarray(at, end + 1)
      at = end
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (level === 0) isObject = byte === OPEN_BRACE
      if (++level > MAX_LEVELS) return { member, at }
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) level--
  }
  return undefined
}

/** Returns the offset of the quote that ends a string, or the length if none does. An escape takes the byte after it along. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}
