/**
 * Whether every store and reader keeps a text as it is: no lone surrogate, because UTF-8 writes each of them as U+FFFD, and no
 * NUL, because Postgres refuses it and programs in C take it for the end. Two texts that pass and differ stay different.
 */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
