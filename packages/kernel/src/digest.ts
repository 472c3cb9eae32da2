import { hash } from 'node:crypto'

/**
 * A storage key of fixed length for any text: SHA-256 over its UTF-16 code units, as base64url (43 characters).
 * Distinct texts give distinct digests, lone surrogates and NUL included, and stores never see hostile or
 * 64 KiB keys, wallet addresses or client-chosen nonces.
 */
export function keyDigest(text: string): string {
  return hash('sha256', Buffer.from(text, 'utf16le'), 'base64url')
}
