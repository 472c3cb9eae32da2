import { decode } from 'jose/base64url'

export { decode as decodeBytes, encode as encodeBytes } from 'jose/base64url'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Decodes base64url of UTF-8 text. Throws if the bytes are not UTF-8. */
export function decodeText(base64url: string): string {
  return utf8.decode(decode(base64url))
}
