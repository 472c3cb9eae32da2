import type { Operation, OperationInput } from './operation.ts'

/** The parts of a request that all its attempts share. */
export interface OperationRequest {
  readonly url: string
  readonly body: string | undefined
}

/** Builds the request of a call. Throws a `TypeError` for a path parameter that is missing or would change the path. */
export function requestOf(
  base: string,
  { path }: Operation<OperationInput, unknown>,
  { params, query, body }: OperationInput,
): OperationRequest {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(name, params))
  return {
    url: base + filled + queryOf(query),
    body: body === undefined ? undefined : JSON.stringify(body),
  }
}

function segment(name: string, params: object | undefined): string {
  const value = (params as Readonly<Record<string, unknown>> | undefined)?.[name]
  // URL parsers remove dot segments, which would make another path of it.
  if (typeof value !== 'string' || /^\.{0,2}$/.test(value))
    throw new TypeError(`params.${name} must be an id from an earlier response`)
  return encodeURIComponent(value)
}

/** A list is one parameter with commas. Undefined members are left out. */
function queryOf(query: object = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

/** A new idempotency key: 128 random bits. `crypto.randomUUID` is missing in pages without HTTPS. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
}
