import { allow, type Verdict, type HeaderField } from '@gatewright/kernel'
import { responseHeaders } from './response-headers.ts'
import { checkedAliases } from './table-checks.ts'
import { deny, type AliasDenial } from './codes.ts'
import { createFieldReader, createLegacyFieldWriter, type TranslatedFields } from './fields.ts'
import { createPathIndex, isUnambiguous, translatePath } from './paths.ts'
import { createScopeReader, type TranslatedScopes } from './scopes.ts'
import type { Alias, AliasTable, MatchedAlias } from './table.ts'

/** A request under its current names, and the old names that it used. */
export interface ResolvedRequest {
  readonly path: string
  /** Headers that were sent under an old name, under their current name. The object has no prototype. */
  readonly headers: Readonly<Record<string, string>>
  /** The old paths and headers that the request used. */
  readonly used: readonly MatchedAlias[]
  /**
   * Header fields for every response to the request, also for errors: `responseHeaders(used)`. A host that also reads fields or
   * scopes calls that function itself, with all old names used.
   */
  readonly responseHeaders: readonly HeaderField[]
}

/**
 * A checked alias table. Its readers have two denials. `gone` (410): the request uses a name with the mode `gone` without its
 * current name; with the current name, the old one is ignored. `invalid_request` (400): an old name and its current name have
 * different values; `field` has the current name.
 */
export interface Aliases {
  /**
   * Translates the path and headers of a request. `path` is the path of the request target as received: undecoded, without
   * the query. `header` reads a header by its lower-case name. Paths match by whole segments; a path that routers could read
   * differently is never translated. The cost does not depend on the number of paths in the table.
   */
  resolve(request: {
    readonly path: string
    header(name: string): string | undefined
  }): Verdict<ResolvedRequest, AliasDenial>
  /**
   * Translates the fields of an operation's request body. An old field at the top level is replaced, or removed where its value is
   * not used; one inside an object is copied. `null` counts as absent.
   */
  readFields(
    operation: string,
    body: Readonly<Record<string, unknown>>,
  ): Verdict<TranslatedFields, AliasDenial>
  /** Whether a request body of the operation has old names. */
  renamesFields(operation: string): boolean
  /** Translates requested scopes. Renamed scopes get their current name; retired ones are listed separately. */
  readScopes(surface: string, requested: readonly string[]): Verdict<TranslatedScopes, AliasDenial>
  /** Makes the header fields of every response to a request that used these old names, also for errors. */
  responseHeaders(used: readonly MatchedAlias[]): readonly HeaderField[]
  /** Copies a response object and adds each renamed field under its old name too, unless it has a field of that name. */
  withLegacyFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown>
}

type TranslatedHeaders = Pick<ResolvedRequest, 'headers' | 'used'>

/** Shared by all requests without old headers. */
const NO_OLD_HEADERS = allow<TranslatedHeaders>({
  headers: Object.freeze(Object.create(null) as Record<string, string>),
  used: Object.freeze([]),
})

function readHeaders(
  rows: readonly Alias[],
  header: (name: string) => string | undefined,
): Verdict<TranslatedHeaders, AliasDenial> {
  let translated: { headers: Record<string, string>; used: MatchedAlias[] } | undefined
  for (const alias of rows) {
    const old = header(alias.from)
    if (old === undefined) continue
    translated ??= { headers: Object.create(null) as Record<string, string>, used: [] }
    const { headers, used } = translated
    used.push({ alias })
    const to = alias.to as string
    const current = headers[to] ?? header(to)
    if (alias.mode === 'gone') {
      if (current !== undefined) continue
      return deny('gone', `the header ${alias.from} is gone: send ${to}`, used, alias.from)
    }
    if (current !== undefined && current !== old) {
      const message = `${to} and its old name ${alias.from} have different values: send only ${to}`
      return deny('invalid_request', message, used, to)
    }
    headers[to] = old
  }
  return translated ? allow(translated) : NO_OLD_HEADERS
}

/** Makes the readers of an alias table. Throws a `TypeError` that names the row if the table is wrong. */
export function createAliases(table: AliasTable): Aliases {
  const aliases = checkedAliases(table)
  const headerRows = aliases.filter(({ kind }) => kind === 'header')
  const findPath = createPathIndex(aliases)
  const renamed = new Set((table.requestFields ?? []).map(({ operation }) => operation))

  return {
    resolve({ path, header }) {
      const read = readHeaders(headerRows, header)
      if (!read.ok) return read
      const { headers, used } = read.value
      const alias = findPath(path)
      if (!alias || !isUnambiguous(path))
        return allow({ path, headers, used, responseHeaders: responseHeaders(used) })
      const successor = translatePath(path, alias)
      const all = [...used, { alias, successor }]
      if (alias.mode !== 'gone')
        return allow({ path: successor, headers, used: all, responseHeaders: responseHeaders(all) })
      return deny('gone', `${alias.from} is gone: use ${alias.to}`, all)
    },
    responseHeaders,
    readFields: createFieldReader(table, aliases),
    renamesFields: operation => renamed.has(operation),
    readScopes: createScopeReader(aliases),
    withLegacyFields: createLegacyFieldWriter(aliases),
  }
}
