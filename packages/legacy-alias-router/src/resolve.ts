import { allow, type Verdict, type HeaderField } from '@gatewright/kernel'
import { checkedAliases } from './check.ts'
import { deny, type AliasDenial } from './codes.ts'
import { fieldReader, twinWriter, type FieldsRead } from './fields.ts'
import { answerHeaders } from './notices.ts'
import { isPlain, pathFinder, translated } from './paths.ts'
import { scopeReader, type ScopesRead } from './scopes.ts'
import type { Alias, AliasTable, AliasUse } from './table.ts'

/** What `resolve` looks at. */
export interface AliasFacts {
  /** The request target's path as received: undecoded, without the query. */
  readonly path: string
  /** Reads a request header by lower-case name. */
  header(name: string): string | undefined
}

/** The request under current names, and what of it was said in old ones. */
export interface Resolved {
  readonly path: string
  /** Current headers whose value arrived under an old name. No prototype. */
  readonly headers: Readonly<Record<string, string>>
  /** The old paths and headers that were used. */
  readonly used: readonly AliasUse[]
  /**
   * Fields for every answer to the request, errors included: `answerHeaders(used)`. A host that also reads fields or
   * scopes calls that function itself, with all that was used.
   */
  readonly answerHeaders: readonly HeaderField[]
}

/**
 * The alias table, ready to use. The readers share their refusals: `gone` (410) for a name whose mode is `gone`
 * when its current name did not come too, else the old one is ignored; `invalid_request` when an old name and
 * its current one both came and differ (`field` names the current one). A denial's `used` has what was found.
 */
export interface Aliases {
  /**
   * Translates path and headers. Paths match by whole segments; a path that a router could read in more than
   * one way is never translated. The cost does not depend on the number of paths in the table.
   */
  resolve(facts: AliasFacts): Verdict<Resolved, AliasDenial>
  /**
   * Translates the fields of an operation's request body. An old name at the top is replaced; one inside an
   * object is copied from there. `null` counts as absent.
   */
  readFields(operation: string, body: Readonly<Record<string, unknown>>): Verdict<FieldsRead, AliasDenial>
  /** Translates requested scopes: renamed ones to their current name, retired ones aside. */
  readScopes(surface: string, requested: readonly string[]): Verdict<ScopesRead, AliasDenial>
  /** Fields for every answer to a request that used these names, errors included. */
  answerHeaders(used: readonly AliasUse[]): readonly HeaderField[]
  /** Copies an answer object with the old twin of each field that has one. */
  withTwins(fields: Readonly<Record<string, unknown>>): Record<string, unknown>
}

const NO_HEADERS: Resolved['headers'] = Object.freeze(Object.create(null) as Record<string, string>)
const NONE: readonly AliasUse[] = Object.freeze([])

interface HeadersRead {
  readonly headers: Resolved['headers']
  readonly used: readonly AliasUse[]
}

const NOTHING_OLD = allow<HeadersRead>({ headers: NO_HEADERS, used: NONE })

function readHeaders(
  rows: readonly Alias[],
  header: AliasFacts['header'],
): Verdict<HeadersRead, AliasDenial> {
  let read: { headers: Record<string, string>; used: AliasUse[] } | undefined
  for (const alias of rows) {
    const old = header(alias.from)
    if (old === undefined) continue
    read ??= { headers: Object.create(null) as Record<string, string>, used: [] }
    const { headers, used } = read
    used.push({ alias })
    const to = alias.to as string
    const current = headers[to] ?? header(to)
    if (alias.mode === 'gone') {
      if (current !== undefined) continue
      return deny('gone', `the header ${alias.from} is gone: send ${to}`, used, alias.from)
    }
    if (current !== undefined && current !== old) {
      const message = `${to} and its old name ${alias.from} differ: send one`
      return deny('invalid_request', message, used, to)
    }
    headers[to] = old
  }
  return read ? allow(read) : NOTHING_OLD
}

/** Checks the table (a wrong one throws a `TypeError` that names the row) and compiles it. */
export function createAliases(table: AliasTable): Aliases {
  const aliases = checkedAliases(table)
  const headerRows = aliases.filter(({ kind }) => kind === 'header')
  const find = pathFinder(aliases)

  return {
    resolve({ path, header }) {
      const read = readHeaders(headerRows, header)
      if (!read.ok) return read
      const { headers, used } = read.value
      const alias = find(path)
      if (!alias || !isPlain(path)) return allow({ path, headers, used, answerHeaders: answerHeaders(used) })
      const successor = translated(path, alias)
      const all = [...used, { alias, successor }]
      if (alias.mode !== 'gone')
        return allow({ path: successor, headers, used: all, answerHeaders: answerHeaders(all) })
      return deny('gone', `${alias.from} is gone: use ${alias.to}`, all)
    },
    answerHeaders,
    readFields: fieldReader(table, aliases),
    readScopes: scopeReader(aliases),
    withTwins: twinWriter(aliases),
  }
}
