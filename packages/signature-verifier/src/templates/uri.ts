import { isIPv6 } from 'node:net'

/** RFC 3986: unreserved characters, sub-delims and escapes; a path segment may also contain `:` and `@`. */
const CHARACTER = "(?:[\\w.~!$&'()*+,;=-]|%[0-9a-fA-F]{2})"
const SEGMENT_CHARACTER = "(?:[\\w.~!$&'()*+,;=:@-]|%[0-9a-fA-F]{2})"

/** A host in brackets, which nothing else in a URI may contain. Its content is a group of its own for `isIpLiteral`. */
const IP_LITERAL = '\\[([^[\\]]+)\\]'

/**
 * An authority without user information (RFC 3986, section 3.2), with a host. One group: the content of the brackets.
 */
export const AUTHORITY: string = `(?:${IP_LITERAL}|${CHARACTER}+)(?::\\d{1,5})?`

/** The grammar of RFC 3986, section 3. One group: the content of the host's brackets. */
const URI = new RegExp(
  '^[a-zA-Z][a-zA-Z0-9+.-]*:' +
    `(?://(?:(?:${CHARACTER}|:)*@)?(?:${IP_LITERAL}|${CHARACTER}*)(?::\\d*)?(?:/${SEGMENT_CHARACTER}*)*` +
    `|(?!//)(?:${SEGMENT_CHARACTER}|/)*)` +
    `(?:\\?(?:${SEGMENT_CHARACTER}|[/?])*)?(?:#(?:${SEGMENT_CHARACTER}|[/?])*)?$`,
)
const IP_FUTURE = /^v[0-9a-f]+\.[\w.~!$&'()*+,;=:-]+$/i

/** Whether a host's brackets may contain this text: an IPv6 address without a zone, or one of a later version. */
export function isIpLiteral(text: string): boolean {
  return (!text.includes('%') && isIPv6(text)) || IP_FUTURE.test(text)
}

/** Whether a text is an absolute URI by RFC 3986, a fragment allowed. */
export function isUri(text: string): boolean {
  const match = URI.exec(text)
  return match !== null && (match[1] === undefined || isIpLiteral(match[1]))
}
