import { isIPv6 } from 'node:net'

/** RFC 3986: unreserved, sub-delims and escapes, and what else a path segment may hold. */
const CHARACTER = "(?:[\\w.~!$&'()*+,;=-]|%[0-9a-fA-F]{2})"
const SEGMENT_CHARACTER = "(?:[\\w.~!$&'()*+,;=:@-]|%[0-9a-fA-F]{2})"

/** A host in brackets, whose inside is a group of its own for `isIpLiteral`; the only place for brackets in a URI. */
const IP_LITERAL = '\\[([^[\\]]+)\\]'

/** An authority without user information (RFC 3986, section 3.2), with a host. One group: what brackets hold. */
export const AUTHORITY: string = `(?:${IP_LITERAL}|${CHARACTER}+)(?::\\d{1,5})?`

/** By the grammar of RFC 3986, section 3. One group: what the brackets of the host hold. */
const URI = new RegExp(
  '^[a-zA-Z][a-zA-Z0-9+.-]*:' +
    `(?://(?:(?:${CHARACTER}|:)*@)?(?:${IP_LITERAL}|${CHARACTER}*)(?::\\d*)?(?:/${SEGMENT_CHARACTER}*)*` +
    `|(?!//)(?:${SEGMENT_CHARACTER}|/)*)` +
    `(?:\\?(?:${SEGMENT_CHARACTER}|[/?])*)?(?:#(?:${SEGMENT_CHARACTER}|[/?])*)?$`,
)
const IP_FUTURE = /^v[0-9a-f]+\.[\w.~!$&'()*+,;=:-]+$/i

/** Whether brackets of a host may hold this: an IPv6 address without a zone, or a later version's. */
export function isIpLiteral(text: string): boolean {
  return (!text.includes('%') && isIPv6(text)) || IP_FUTURE.test(text)
}

/** Whether a text is an absolute URI by RFC 3986, a fragment allowed. */
export function isUri(text: string): boolean {
  const match = URI.exec(text)
  return match !== null && (match[1] === undefined || isIpLiteral(match[1]))
}
