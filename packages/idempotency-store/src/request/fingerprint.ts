import { allocateBytes, sha256, utf8Length, writeUtf8 } from '@gatewright/kernel/internal/platform'
import { canonicalJson } from './canonical-json.ts'

/**
 * How payloads are compared. `raw`: byte by byte. `canonical-json`: as JSON values (RFC 8785), ignoring the order of
 * members, white space and escapes. A body that JSON parsers may read differently is still compared byte by byte.
 */
export type FingerprintMode = 'raw' | 'canonical-json'

/**
 * Computes SHA-256 over the digest of the storage key (which identifies account, operation and idempotency key), the method, the target and
 * the body, in base64url (43 characters).
 */
export function fingerprint(
  digest: string,
  {
    method,
    target = '',
    body,
  }: { readonly method: string; readonly target?: string | undefined; readonly body: Uint8Array },
  mode: FingerprintMode,
): string {
  const canonical = mode === 'canonical-json' ? canonicalText(body) : undefined
  const form = canonical === undefined ? 'raw' : 'canonical'
  const payload = canonical === undefined ? body : utf8Of(canonical)
  // The digest has a fixed length and the other lengths are written, so no byte of them can belong to the body.
  const targetPart = target === '' ? '' : `${target.length} ${target} `
  const head = `${digest} ${form}${targetPart && '-with-target'} ${method.length} ${method} ${targetPart}`
  // Written into one buffer, without a copy of the head (npm run bench -- idempotency-store). UTF-8 takes up to 3 bytes per
  // UTF-16 code unit.
  const bytes = allocateBytes(3 * head.length + payload.length)
  const headBytes = writeUtf8(bytes, head)
  bytes.set(payload, headBytes)
  return sha256(bytes.subarray(0, headBytes + payload.length))
}

function utf8Of(text: string): Uint8Array {
  const bytes = allocateBytes(utf8Length(text))
  writeUtf8(bytes, text)
  return bytes
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Returns the RFC 8785 form of a body. Undefined if parsers may disagree about the body: it is not JSON or not UTF-8, has
 * a repeated member, a number that a double cannot represent or a lone surrogate, or is nested too deep.
 */
function canonicalText(body: Uint8Array): string | undefined {
  try {
    const text = UTF8.decode(body)
    const value: unknown = JSON.parse(text)
    return isUnambiguous(text) ? canonicalJson(value) : undefined
  } catch {
    // Comparing bytes is stricter, so the fallback never treats different payloads as equal.
    return undefined
  }
}

/** JSON tokens: strings (with the colon after a member name), numbers, and brackets. */
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|[{}[\]]/g

/** Whether valid JSON text has no repeated member in an object and no number that parsing would change. */
function isUnambiguous(text: string): boolean {
  const open: (Set<string> | undefined)[] = []
  for (const [token, quoted, colon] of text.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(undefined)
    else if (token === '}' || token === ']') open.pop()
    else if (quoted === undefined) {
      if (!isExact(token)) return false
    } else if (colon !== undefined) {
      const names = open.at(-1) as Set<string>
      const name = JSON.parse(quoted) as string
      if (names.has(name)) return false
      names.add(name)
    }
  }
  return true
}

/** Whether a double represents this number: a safe integer, or at most 15 significant digits without overflow or underflow. */
function isExact(token: string): boolean {
  const value = Number(token)
  if (/^-?\d+$/.test(token)) return Number.isSafeInteger(value)
  const digits = token
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '')
  return digits.length <= 15 && Number.isFinite(value) && (value !== 0 || digits === '')
}
