import { isAscii } from 'node:buffer'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Decodes base64url, with or without padding. Throws a `TypeError` for other text. */
export function decodeBytes(base64url: string): Uint8Array<ArrayBuffer> {
  // As jose, which issuers' keys were written for: it accepts the alphabet of base64 too.
  if (!/^[\w+/-]*={0,2}$/.test(base64url)) throw new TypeError('expected base64url')
  return Buffer.from(base64url, 'base64url')
}

/** Encodes bytes in base64url without padding. */
export function encodeBytes(bytes: Uint8Array<ArrayBuffer>): string {
  return Buffer.from(bytes).toString('base64url')
}

/** Decodes base64url of UTF-8 text. Throws if the bytes are not UTF-8. */
export function decodeText(base64url: string): string {
  const bytes = Buffer.from(base64url, 'base64url')
  // Tokens are nearly always ASCII, which costs a fifth of decoding UTF-8 (`npm run bench -- scope-guard`, first seen).
  return isAscii(bytes) ? bytes.toString('latin1') : utf8.decode(bytes)
}
