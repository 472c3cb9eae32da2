import { listAliases, type Alias, type AliasTable } from './table.ts'

/**
 * The paths that every reader takes for the same resource: segments of RFC 3986 `pchar` without `;`, none of
 * them empty, `.` or `..`, and no percent-encoded slash, back-slash, dot or control character. A slash may end it.
 */
const PLAIN = /^(?:\/(?!\.{1,2}(?:\/|$))(?:[a-z0-9._~!$&'()*+,=:@-]|%(?!2f|5c|2e|7f|[01])[0-9a-f]{2})+)+\/?$/i

/** Whether a path can be read in one way only. Percent-encoded bytes must be UTF-8. */
export function isPlain(path: string): boolean {
  if (!PLAIN.test(path)) return false
  if (!path.includes('%')) return true
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

/** Finds the row that translates a path: an exact one, else the longest prefix of whole segments. */
export type FindPath = (path: string) => Alias | undefined

const headOf = (path: string): string => {
  const end = path.indexOf('/', 1)
  return end === -1 ? path : path.slice(0, end)
}

/** Indexes the paths of a table, so that the cost of a look-up does not grow with the number of rows. */
export function pathFinder(aliases: readonly Alias[]): FindPath {
  const of = (kind: Alias['kind']): Map<string, Alias> =>
    new Map(aliases.filter(alias => alias.kind === kind).map(alias => [alias.from, alias]))
  const exact = of('path')
  const prefixes = of('prefix')
  // Most requests end here: no row starts with their first segment.
  const heads = new Set([...exact.keys(), ...prefixes.keys()].map(headOf))
  const depth = Math.max(0, ...[...prefixes.keys()].map(from => from.split('/').length - 1))

  return path => {
    const head = headOf(path)
    if (!heads.has(head)) return undefined
    const found = exact.get(path)
    if (found) return found
    let longest = prefixes.get(head)
    for (let segments = 1, end = head.length; segments < depth && end < path.length; segments++) {
      const next = path.indexOf('/', end + 1)
      end = next === -1 ? path.length : next
      longest = prefixes.get(path.slice(0, end)) ?? longest
    }
    return longest
  }
}

/** The current spelling of a path that a row translates. What follows the prefix stays byte for byte. */
export function translated(path: string, { from, to }: Alias): string {
  return `${to}${path.slice(from.length)}`
}

/** An old spelling of a current path. */
export interface LegacyPath {
  readonly path: string
  readonly alias: Alias
}

/**
 * Lists the old spellings of a current path, parameters (`{id}`) included: what an API description marks as
 * deprecated. Those that are `gone` are listed too.
 */
export function legacyPaths(table: AliasTable, path: string): readonly LegacyPath[] {
  const aliases = listAliases(table)
  const find = pathFinder(aliases)
  return aliases.flatMap(alias => {
    const { kind, from, to } = alias
    const reaches = (kind === 'path' && path === to) || (kind === 'prefix' && `${path}/`.startsWith(`${to}/`))
    const old = from + path.slice(to?.length)
    // A longer row may take this spelling elsewhere.
    return reaches && find(old) === alias ? [{ path: old, alias }] : []
  })
}
