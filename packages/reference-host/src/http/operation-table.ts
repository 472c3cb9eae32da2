import type { Operation } from './operation.ts'

/**
 * Refuses a table that would serve an operation without a rule. Throws a `TypeError` that names the operation: every one
 * must say its credential; a session operation its scopes, if need be none; what anyone may call, its limit or that it has
 * none; every text of its body what it may hold; ids and (method, path) pairs must be unique.
 */
export function checkTable(table: readonly Operation[]): void {
  const ids = new Set<string>()
  const routes = new Set<string>()
  for (const operation of table) {
    const { id } = operation
    const problem = declarationProblem(operation)
    if (problem !== undefined) throw new TypeError(`operation ${id} ${problem}`)
    if (ids.has(id)) throw new TypeError(`operation ${id} is listed twice`)
    ids.add(id)
    for (const path of operation.paths) {
      const route = `${operation.method} ${path.replaceAll(/\{\w+\}/g, '{}')}`
      if (routes.has(route)) throw new TypeError(`operation ${id} has the path of another: ${route}`)
      routes.add(route)
    }
  }
}

function declarationProblem({ id, credential, scopes, limit, paths, body }: Operation): string | undefined {
  if (!/^[a-z]+\.[a-zA-Z]+$/.test(id)) return 'must be named tag.verb'
  if (credential === undefined) return 'names no credential'
  if (paths.length === 0) return 'has no path'
  const checkSession = credential === 'session' || credential === 'user-key-or-session'
  if (checkSession && scopes === undefined) return 'names no scopes: an empty list says that none are needed'
  if (credential === 'none' && limit === undefined) return 'is open to anyone and has no limit'
  const vague = body && unconstrainedText(body)
  if (vague !== undefined) return `takes any text as ${vague}: use nameText or idText, a pattern or a format`
  return undefined
}

/** A JSON Schema, as far as texts go. */
interface TextSchema {
  readonly type?: unknown
  readonly pattern?: unknown
  readonly format?: unknown
  readonly enum?: unknown
  readonly properties?: Readonly<Record<string, TextSchema>>
  readonly items?: TextSchema
  readonly anyOf?: readonly TextSchema[]
}

/** The name of a text in a schema that does not say what it may hold: two texts could then be one to a store. */
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
