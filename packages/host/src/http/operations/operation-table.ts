import type { Operation } from './operation.ts'

/**
 * Throws a `TypeError` for an invalid operation table. The error names the operation and the problem. Every operation must name
 * its credential. A session operation must name its scopes, which may be an empty list. A public operation must name its limit,
 * which may be `none`. Every string of a body must have a pattern, a format or an enum. An operation that spends must require
 * an idempotency key. An operation that makes or changes a key or a session must deny unknown members. Ids must be unique on
 * their surface, and (method, path) pairs in the table.
 */
export function assertOperationTable(table: readonly Operation[]): void {
  const ids = new Set<string>()
  const routes = new Set<string>()
  for (const operation of table) {
    const { id } = operation
    const problem = validateDeclaration(operation)
    if (problem !== undefined) throw new TypeError(`operation ${id} ${problem}`)
    const onSurface = `${operation.surface} ${id}`
    if (ids.has(onSurface)) throw new TypeError(`operation ${id} is listed twice`)
    ids.add(onSurface)
    for (const path of operation.paths) {
      const route = `${operation.method} ${path.replaceAll(/\{\w+\}/g, '{}')}`
      if (routes.has(route)) throw new TypeError(`operation ${id} has the path of another: ${route}`)
      routes.add(route)
    }
  }
}

/** The kinds of credential that accept a session. */
const TAKE_SESSIONS: readonly string[] = [
  'session',
  'user-key-or-session',
  'session-or-web-token',
  'user-key-web-token-or-session',
]

function validateDeclaration({
  id,
  credential,
  scopes,
  limit,
  paths,
  body,
  ...rest
}: Operation): string | undefined {
  if (!/^[a-z]+\.[a-zA-Z]+$/.test(id)) return 'must be named tag.verb'
  if (credential === undefined) return 'names no credential'
  if (paths.length === 0) return 'has no path'
  if (TAKE_SESSIONS.includes(credential) && scopes === undefined)
    return 'names no scopes: give an empty list if it needs none'
  if (credential === 'none' && limit === undefined) return 'is public and names no limit'
  if ('write' in rest && rest.spends && (rest.idempotency ?? 'required') !== 'required')
    return 'spends and does not require an idempotency key'
  if (rest.unknownMembers !== 'deny' && changesCredentials(id, rest))
    return "makes or changes a key or a session: it must declare unknownMembers: 'deny'"
  const vague = body && unconstrainedText(body)
  if (vague !== undefined) return `takes any text as ${vague}: use nameText or idText, a pattern or a format`
  return undefined
}

/** Whether an operation responds with a new credential, or writes under a tag of credentials. */
export function changesCredentials(
  id: string,
  { method, response }: Pick<Operation, 'method' | 'response'>,
): boolean {
  const { properties = {} } = response as { readonly properties?: object }
  const isNew = ['userApiKey', 'sessionToken'].some(name => Object.hasOwn(properties, name))
  return isNew || (method !== 'GET' && /^(?:keys|sessions)\./.test(id))
}

/** The parts of a JSON Schema that concern strings. */
interface TextSchema {
  readonly type?: unknown
  readonly pattern?: unknown
  readonly format?: unknown
  readonly enum?: unknown
  readonly properties?: Readonly<Record<string, TextSchema>>
  readonly items?: TextSchema
  readonly anyOf?: readonly TextSchema[]
}

/** Returns the name of a string without a pattern, format or enum. A store could treat two different such strings as equal. */
function unconstrainedText(schema: TextSchema, name = 'body'): string | undefined {
  const { type, pattern, format, properties, items, anyOf } = schema
  if (type === 'string' && pattern === undefined && format === undefined && schema.enum === undefined)
    return name
  const below: [string, TextSchema][] = [
    ...Object.entries(properties ?? {}),
    ...[...(items ? [items] : []), ...(anyOf ?? [])].map(each => [name, each] as [string, TextSchema]),
  ]
  return below.map(([inner, each]) => unconstrainedText(each, inner)).find(found => found !== undefined)
}
