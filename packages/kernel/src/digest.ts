import { hash } from 'node:crypto'

/**
 * A storage key of fixed length for any text: SHA-256 of its UTF-8 as base64url (43 characters). Distinct texts give distinct
 * digests, lone surrogates and NUL included, and stores never see hostile or 64 KiB keys, wallet addresses or
 * client-chosen nonces.
 */
export function keyDigest(text: string): string {
  // UTF-8 writes every lone surrogate alike. Such a text is hashed as UTF-16, behind a byte that no UTF-8 has.
  if (text.isWellFormed()) return hash('sha256', text, 'base64url')
  return hash('sha256', Buffer.from(`\u00ff${text}`, 'utf16le'), 'base64url')
}
