/**
 * Whether every store keeps a text unchanged. Rejects lone surrogates, because UTF-8 encodes each of them as U+FFFD, and NUL,
 * because Postgres rejects it and C programs end a text at it.
 */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/**
 * Makes a text that every store keeps: U+FFFD in place of each NUL and each lone surrogate, and at most `most` characters (UTF-16 code
 * units). A surrogate pair is never split. For texts that are shown to people, never for ids, because two texts may become one.
 */
export function storableText(text: string, most: number): string {
  // Cut first, so that a long text costs no more than a short one.
  const cut = text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, '')
  return cut.toWellFormed().replaceAll('\0', '\ufffd')
}
