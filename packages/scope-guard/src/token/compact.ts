/** The low bits of a segment's last character that must be zero, by the segment's length modulo 4 (RFC 4648 section 3.5). */
const SPARE_BITS = [0, 0, 0b1111, 0b11]
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/

function isCanonicalSegment(text: string, start: number, end: number): boolean {
  const rest = (end - start) % 4
  if (rest === 1) return false
  return (ALPHABET.indexOf(text[end - 1] as string) & (SPARE_BITS[rest] as number)) === 0
}

/**
 * Decides whether a text is a JWS in canonical compact form (RFC 7515 section 3.1): three non-empty base64url segments
 * without padding, white space or non-zero spare bits. Many verifiers accept other spellings of the same bytes, and then
 * the text does not identify the token. Takes time linear in the length.
 */
export function isCanonicalCompact(text: string): boolean {
  if (!COMPACT.test(text)) return false
  const first = text.indexOf('.')
  const second = text.indexOf('.', first + 1)
  return (
    isCanonicalSegment(text, 0, first) &&
    isCanonicalSegment(text, first + 1, second) &&
    isCanonicalSegment(text, second + 1, text.length)
  )
}
