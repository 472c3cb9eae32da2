import type { Operation } from './operation.ts'

/**
 * Refuses a table that would serve an operation without a rule. Throws a `TypeError` that names the operation: every one
 * must say its credential; a session operation its scopes, if need be none; what anyone may call, its limit or that it has
 * none; ids and (method, path) pairs must be unique.
 */
export function checkTable(table: readonly Operation[]): void {
  const ids = new Set<string>()
  const routes = new Set<string>()
  for (const operation of table) {
    const { id } = operation
    const problem = ruleProblem(operation)
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

function ruleProblem({ id, credential, scopes, limit, paths }: Operation): string | undefined {
  if (!/^[a-z]+\.[a-zA-Z]+$/.test(id)) return 'must be named tag.verb'
  if (credential === undefined) return 'names no credential'
  if (paths.length === 0) return 'has no path'
  const bySession = credential === 'session' || credential === 'user-key-or-session'
  if (bySession && scopes === undefined) return 'names no scopes: an empty list says that none are needed'
  if (credential === 'none' && limit === undefined) return 'is open to anyone and has no limit'
  return undefined
}
