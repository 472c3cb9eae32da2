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

/** A segment of the table's paths: the rows that end there, and what follows. */
interface Node {
  exact?: Alias
  prefix?: Alias
  readonly next: Map<string, Node>
}

/**
 * Indexes the paths of a table by segment. A look-up walks a path as far as some row has its segments, and so costs
 * the same with few rows and with many.
 */
export function pathFinder(aliases: readonly Alias[]): FindPath {
  const root: Node = { next: new Map() }
  for (const alias of aliases) {
    const { kind, from } = alias
    if (kind !== 'path' && kind !== 'prefix') continue
    let node = root
    for (const segment of from.split('/').slice(1)) {
      const next = node.next.get(segment) ?? { next: new Map<string, Node>() }
      node.next.set(segment, next)
      node = next
    }
    if (kind === 'path') node.exact = alias
    else node.prefix = alias
  }

  return path => {
    let longest: Alias | undefined
    let start = 1
    for (let node: Node | undefined = root; ; ) {
      const slash = path.indexOf('/', start)
      node = node.next.get(slash === -1 ? path.slice(start) : path.slice(start, slash))
      if (!node) return longest
      if (slash === -1) return node.exact ?? node.prefix ?? longest
      longest = node.prefix ?? longest
      start = slash + 1
    }
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
