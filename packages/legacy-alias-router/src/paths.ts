import { listAliases, type Alias, type AliasTable } from './table.ts'

/**
 * Paths that every router reads as the same resource: segments of RFC 3986 `pchar` without `;`, none of them empty, `.` or
 * `..`, and no percent-encoded slash, backslash, dot or control character. A slash may end the path.
 */
const UNAMBIGUOUS =
  /^(?:\/(?!\.{1,2}(?:\/|$))(?:[a-z0-9._~!$&'()*+,=:@-]|%(?!2f|5c|2e|7f|[01])[0-9a-f]{2})+)+\/?$/i

/** Whether all routers read a path in the same way. Percent-encoded bytes must be UTF-8. */
export function isUnambiguous(path: string): boolean {
  if (!UNAMBIGUOUS.test(path)) return false
  if (!path.includes('%')) return true
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

/** A path segment: the rows whose paths end at it, and the segments that follow it. */
interface Node {
  exact?: Alias
  prefix?: Alias
  readonly next: Map<string, Node>
}

/**
 * Returns a function that finds the row that translates a path: the row of exactly this path, otherwise the longest prefix of
 * whole segments. The paths are indexed by segment, so the cost does not depend on the number of rows.
 */
export function createPathIndex(aliases: readonly Alias[]): (path: string) => Alias | undefined {
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

/** Translates a path by its row. What follows the prefix is not changed. */
export function translatePath(path: string, { from, to }: Alias): string {
  return `${to}${path.slice(from.length)}`
}

/**
 * Lists the old spellings of a current path, which may have parameters (`{id}`). An API description marks them as
 * deprecated. Old spellings with the mode `gone` are listed too.
 */
export function legacyPaths(
  table: AliasTable,
  path: string,
): readonly { readonly path: string; readonly alias: Alias }[] {
  const aliases = listAliases(table)
  const find = createPathIndex(aliases)
  return aliases.flatMap(alias => {
    const { kind, from, to } = alias
    const leadsToPath =
      (kind === 'path' && path === to) || (kind === 'prefix' && `${path}/`.startsWith(`${to}/`))
    const old = from + path.slice(to?.length)
    // A longer prefix may translate this spelling to another path.
    return leadsToPath && find(old) === alias ? [{ path: old, alias }] : []
  })
}
