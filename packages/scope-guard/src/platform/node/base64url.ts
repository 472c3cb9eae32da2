import { isAscii } from 'node:buffer'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Decodes base64url of UTF-8 text. Throws if the bytes are not UTF-8. */
export function decodeText(base64url: string): string {
  const bytes = Buffer.from(base64url, 'base64url')
  // Tokens are nearly always ASCII, which costs a fifth of decoding UTF-8 (`npm run bench -- scope-guard`, first seen).
  return isAscii(bytes) ? bytes.toString('latin1') : utf8.decode(bytes)
}
