import { hash } from 'node:crypto'
import canonicalize from 'canonicalize'

/**
 * What counts as the same payload. `raw`: the same bytes. `canonical-json`: the same JSON value, whatever the
 * order of its members, its white space and its escapes (RFC 8785); a body that JSON readers may disagree
 * about is still compared by its bytes.
 */
export type FingerprintMode = 'raw' | 'canonical-json'

/** What a fingerprint is taken of. */
export interface Payload {
  readonly method: string
  readonly operation: string
  readonly body: Uint8Array
}

/** SHA-256 over method, operation and body, as base64url (43 characters). */
export function fingerprint({ method, operation, body }: Payload, mode: FingerprintMode): string {
  const canonical = mode === 'canonical-json' ? canonicalText(body) : undefined
  const form = canonical === undefined ? 'raw' : 'canonical'
  const head = headOf(method, operation, form)
  const bytes = canonical === undefined ? body : Buffer.from(canonical)
  return hash('sha256', Buffer.concat([head, bytes]), 'base64url')
}

interface Head {
  readonly method: string
  readonly form: string
  readonly bytes: Buffer
}

const MOST_HEADS = 1000
const heads = new Map<string, Head>()

/** What comes before the body, kept for the operations of a host: they are few, and each has one method. */
function headOf(method: string, operation: string, form: string): Buffer {
  const held = heads.get(operation)
  if (held?.method === method && held.form === form) return held.bytes
  const bytes = Buffer.from(JSON.stringify([method, operation, form]))
  if (!held && heads.size >= MOST_HEADS) heads.clear()
  heads.set(operation, { method, form, bytes })
  return bytes
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
