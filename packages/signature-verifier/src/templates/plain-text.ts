/**
 * What no signed field may hold: controls, line and paragraph separators, lone surrogates, every space but the
 * plain one (NBSP looks like it), and invisible format characters such as BOM and bidirectional overrides. The two
 * joiners stay, because emoji are spelled with them.
 */
const REFUSED = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]|[^\P{Zs} ]|[^\P{Cf}\u200c\u200d]/u

/** Whether a text is one line of characters that a reader can tell apart from what surrounds them. */
export function isPlainLine(text: string): boolean {
  return !REFUSED.test(text)
}

const FIELD =
  /\b(?:Address|Nonce|Issued At|Expires At|Expiration Time|Not Before|Domain|Chain ID|URI|Version|Request|Request ID|Resources):/

/** Whether free text holds the label of a signed field, and so could pass for one where a wallet wraps lines. */
export function looksLikeField(text: string): boolean {
  return FIELD.test(text)
}
