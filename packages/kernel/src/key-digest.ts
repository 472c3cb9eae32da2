import { sha256 } from '#platform'

/**
 * Makes a storage key of fixed length from any text: SHA-256 of its UTF-8 in base64url (43 characters). Different texts
 * get different digests, also with lone surrogates and NUL. Stores never see the text itself, which a client may choose.
 */
export function keyDigest(text: string): string {
  // UTF-8 encodes all lone surrogates alike. Such a text is hashed as UTF-16, after a byte that is never valid in UTF-8.
  return sha256(text.isWellFormed() ? text : utf16(`\u00ff${text}`))
}

function utf16(text: string): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(2 * text.length))
  for (let index = 0; index < text.length; index++) bytes.setUint16(2 * index, text.charCodeAt(index), true)
  return new Uint8Array(bytes.buffer)
}
