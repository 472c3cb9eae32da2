import { allow, type Verdict } from '@gatewright/kernel'
import { deny, type AliasDenial } from './codes.ts'
import { checkTable, type AliasMode, type AliasTable } from './table.ts'

/** What `resolve` looks at. */
export interface AliasFacts {
  /** The request target's path as received: undecoded, without the query. */
  readonly path: string
  /** Reads a request header by lower-case name. */
  header(name: string): string | undefined
}

/** The canonical request, and what of it was said in old names. */
export interface Resolved {
  readonly path: string
  /** Canonical headers whose value arrived under a legacy name. */
  readonly headers: Readonly<Record<string, string>>
  /** The legacy paths and headers that were used. */
  readonly used: readonly string[]
  /** Fields every answer to this request carries, errors included: `Deprecation` (RFC 9745). */
  readonly answerHeaders: readonly (readonly [name: string, value: string])[]
}

/** The alias table, ready to use. */
export interface Aliases {
  /**
   * Translates a request into canonical names. Paths match by whole segments; a path that a router could read
   * in more than one way is never translated. Denial: `invalid_request` when a legacy header and its canonical
   * one both came and differ (`field` names the canonical one).
   */
  resolve(facts: AliasFacts): Verdict<Resolved, AliasDenial>
  /** Copies an answer object with the legacy twin of each field that has one. */
  withTwins(fields: Readonly<Record<string, unknown>>): Record<string, unknown>
  /** Parts requested scopes into those to grant and retired ones, which are accepted and grant nothing. */
  sortScopes(
    surface: string,
    requested: readonly string[],
  ): { readonly scopes: string[]; readonly ignored: string[] }
}

/** Encoded slash, back-slash or dot, empty or dot segments, parameters, back-slash, or a percent that encodes nothing. */
const AMBIGUOUS = /%(?:2f|5c|2e)|%(?![0-9a-f]{2})|\/\/|\/\.{1,2}(?:\/|$)|[;\\]|^[^/]/i

/** RFC 9745 section 2.1: the date as a structured field, `@` and Unix seconds. The oldest date speaks for all. */
function deprecation(modes: readonly AliasMode[]): Resolved['answerHeaders'] {
  const dates = modes.flatMap(mode => (mode === 'serve' ? [] : [mode.deprecatedSince]))
  return dates.length === 0 ? [] : [['Deprecation', `@${Math.floor(Math.min(...dates) / 1000)}`]]
}

/** Checks the table (a wrong one throws a `TypeError`) and compiles it. */
export function createAliases(table: AliasTable): Aliases {
  checkTable(table)
  const paths = new Map(table.paths.map(rename => [rename.from, rename]))
  const depth = Math.max(0, ...table.paths.map(rename => rename.from.split('/').length - 1))

  /** The rename of the longest legacy prefix of whole segments, if any. */
  const match = (path: string): AliasTable['paths'][number] | undefined => {
    let found
    let end = 0
    for (let segment = 0; segment < depth && end < path.length; segment++) {
      const next = path.indexOf('/', end + 1)
      end = next === -1 ? path.length : next
      found = paths.get(path.slice(0, end)) ?? found
    }
    return found
  }

  return {
    resolve({ path, header }) {
      const used: string[] = []
      const modes: AliasMode[] = []
      const headers: Record<string, string> = {}
      for (const { from, to, mode } of table.headers) {
        const legacy = header(from)
        if (legacy === undefined) continue
        const canonical = header(to)
        if (canonical !== undefined && canonical !== legacy) {
          return deny('invalid_request', `${to} and its legacy name ${from} differ: send one`, { field: to })
        }
        headers[to] = legacy
        used.push(from)
        modes.push(mode)
      }
      const rename = AMBIGUOUS.test(path) ? undefined : match(path)
      if (rename) {
        used.push(rename.from)
        modes.push(rename.mode)
      }
      const target = rename ? rename.to + path.slice(rename.from.length) : path
      return allow({ path: target, headers, used, answerHeaders: deprecation(modes) })
    },
    withTwins(fields) {
      const copy = { ...fields }
      for (const [name, twin] of Object.entries(table.answerTwins)) {
        if (Object.hasOwn(fields, name)) copy[twin] = fields[name]
      }
      return copy
    },
    sortScopes(surface, requested) {
      const retired = table.retiredScopes[surface] ?? []
      return {
        scopes: [...new Set(requested.filter(name => !retired.includes(name)))],
        ignored: [...new Set(requested.filter(name => retired.includes(name)))],
      }
    },
  }
}
