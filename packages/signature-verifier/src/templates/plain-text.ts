/**
 * Characters that no signed field may contain: controls, line and paragraph separators, lone surrogates, every space
 * except U+0020 (a no-break space looks like it), and invisible format characters such as the byte order mark and
 * bidirectional overrides. The two joiners are allowed, because emoji contain them.
 */
const FORBIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]|[^\P{Zs} ]|[^\P{Cf}\u200c\u200d]/u

/** Whether a text is one line of visible characters and plain spaces. */
export function isPlainLine(text: string): boolean {
  return !FORBIDDEN.test(text)
}

const FIELD =
  /\b(?:Address|Nonce|Issued At|Expires At|Expiration Time|Not Before|Domain|Chain ID|URI|Version|Request|Request ID|Resources):/

/**
 * Whether free text contains the label of a signed field. Where a wallet wraps lines, such text could pass for the
 * field.
 */
export function looksLikeField(text: string): boolean {
  return FIELD.test(text)
}
