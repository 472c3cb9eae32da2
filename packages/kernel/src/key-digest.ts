import { hash } from 'node:crypto'

/**
 * Makes a storage key of fixed length from any text: SHA-256 of its UTF-8 in base64url (43 characters). Different texts
 * get different digests, also with lone surrogates and NUL. Stores never see the text itself, which a client may choose.
 */
export function keyDigest(text: string): string {
  // UTF-8 encodes all lone surrogates alike. Such a text is hashed as UTF-16, after a byte that is never valid in UTF-8.
  if (text.isWellFormed()) return hash('sha256', text, 'base64url')
  return hash('sha256', Buffer.from(`\u00ff${text}`, 'utf16le'), 'base64url')
}
