import { createHash } from 'node:crypto'

/** The members of a bootstrap request that its digest covers, as sent. */
export interface RequestedGrant {
  readonly scopes?: unknown
  readonly sessionScopes?: unknown
  readonly sessionTtlSeconds?: unknown
  readonly policy?: unknown
  readonly sessionPolicy?: unknown
}

const NAMES = ['policy', 'scopes', 'sessionPolicy', 'sessionScopes', 'sessionTtlSeconds'] as const
const MAX_DEPTH = 32

/**
 * Computes the digest by which a signed text binds a request: lower-case hex SHA-256 of the canonical JSON (RFC 8785) of an
 * object with those members of `RequestedGrant` that are present. The order of list entries matters. Undefined if there is no
 * canonical form: a value that is not JSON, lone surrogates, or more than 32 levels.
 */
export function requestDigest(request: RequestedGrant): string | undefined {
  const present = NAMES.filter(name => request[name] !== undefined)
  const text = canonical(Object.fromEntries(present.map(name => [name, request[name]])), MAX_DEPTH)
  return text === undefined ? undefined : createHash('sha256').update(text, 'utf8').digest('hex')
}

function canonical(value: unknown, depth: number): string | undefined {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? JSON.stringify(value) : undefined
  if (typeof value === 'string') return /\p{Cs}/u.test(value) ? undefined : JSON.stringify(value)
  if (typeof value !== 'object' || depth === 0) return undefined
  if (Array.isArray(value)) {
    const items = value.map(item => canonical(item, depth - 1))
    return items.includes(undefined) ? undefined : `[${items.join()}]`
  }
  const members: string[] = []
  // Keys in the order of their UTF-16 code units, which is what plain sort() does.
  for (const key of Object.keys(value).sort()) {
    const name = canonical(key, depth)
    const member = canonical((value as Record<string, unknown>)[key], depth - 1)
    if (name === undefined || member === undefined) return undefined
    members.push(`${name}:${member}`)
  }
  return `{${members.join()}}`
}
