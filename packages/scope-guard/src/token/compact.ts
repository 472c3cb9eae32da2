/** The low bits of a last character that must be zero, by the length of its segment modulo 4 (RFC 4648 3.5). */
const SPARE_BITS = [0, 0, 0b1111, 0b11]
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/

function canonicalSegment(text: string, start: number, end: number): boolean {
  const rest = (end - start) % 4
  if (rest === 1) return false
  return (ALPHABET.indexOf(text[end - 1] as string) & (SPARE_BITS[rest] as number)) === 0
}

/**
 * Whether a text is a JWS in compact form, spelled in the one canonical way (RFC 7515 section 3.1): three
 * non-empty base64url segments, no padding, no white space, no stray bits. Verifiers commonly accept other
 * spellings of the same bytes; then the text of a token is no identity. Time is linear in the length.
 */
export function isCanonicalCompact(text: string): boolean {
  if (!COMPACT.test(text)) return false
  const first = text.indexOf('.')
  const second = text.indexOf('.', first + 1)
  return (
    canonicalSegment(text, 0, first) &&
    canonicalSegment(text, first + 1, second) &&
    canonicalSegment(text, second + 1, text.length)
  )
}
