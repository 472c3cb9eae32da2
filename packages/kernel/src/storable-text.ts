/**
 * Whether every store keeps a text unchanged. Rejects lone surrogates, because UTF-8 encodes each of them as U+FFFD, and NUL,
 * because Postgres rejects it and C programs end a text at it.
 */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
