import { hash } from 'node:crypto'
import canonicalize from 'canonicalize'

/**
 * What counts as the same payload. `raw`: the same bytes. `canonical-json`: the same JSON value, whatever the
 * order of its members, its white space and its escapes (RFC 8785); a body that JSON readers may disagree
 * about is still compared by its bytes.
 */
export type FingerprintMode = 'raw' | 'canonical-json'

/** What a request sends under its key. */
export interface Payload {
  readonly method: string
  readonly body: Uint8Array
}

/**
 * SHA-256 over the storage key, which names account, operation and idempotency key, the method and the body, as
 * base64url (43 characters).
 */
export function fingerprint(storageKey: string, { method, body }: Payload, mode: FingerprintMode): string {
  const canonical = mode === 'canonical-json' ? canonicalText(body) : undefined
  const form = canonical === undefined ? 'raw' : 'canonical'
  const payload = canonical === undefined ? body : Buffer.from(canonical)
  // A storage key has one length, and the method's is told: what they end with is no part of the body.
  const head = `${storageKey} ${form} ${method.length} ${method} `
  const bytes = Buffer.allocUnsafe(3 * head.length + payload.length)
  const headBytes = bytes.write(head)
  bytes.set(payload, headBytes)
  return hash('sha256', bytes.subarray(0, headBytes + payload.length), 'base64url')
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The RFC 8785 form of a body, or undefined when it has none that every reader agrees on: not JSON, not UTF-8,
 * a member given twice, a number that a double cannot hold, a lone surrogate, nested too deep.
 */
function canonicalText(body: Uint8Array): string | undefined {
  try {
    const text = UTF8.decode(body)
    const value: unknown = JSON.parse(text)
    return isUnambiguous(text) ? canonicalize(value) : undefined
  } catch {
    // The bytes are the stricter comparison, so falling back to them never joins two payloads.
    return undefined
  }
}

/** Strings with the colon that makes them a member name, numbers, and what opens and closes. */
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|[{}[\]]/g

/** Whether valid JSON text has no member twice in one object and no number that changes when it is read. */
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

/** Whether a double holds this number: a safe integer, or at most 15 significant digits that do not underflow. */
function isExact(token: string): boolean {
  const value = Number(token)
  if (/^-?\d+$/.test(token)) return Number.isSafeInteger(value)
  const digits = token
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '')
  return digits.length <= 15 && Number.isFinite(value) && (value !== 0 || digits === '')
}
