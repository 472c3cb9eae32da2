import { checkOptions, type OptionTable } from '@gatewright/kernel/internal'
import type { EpochMs } from '@gatewright/kernel'

/** The mode of a deprecated name: it works, and responses to requests that use it say that it is deprecated. */
export interface Deprecation {
  /** When the deprecation started or will start: the `Deprecation` header (RFC 9745). */
  readonly deprecatedSince: EpochMs
  /**
   * When the name is expected to stop working, not before `deprecatedSince`: the `Sunset` header (RFC 8594). It is only an
   * announcement: the name works until its mode is `gone`. A whole second, because HTTP dates are in seconds.
   */
  readonly sunset?: EpochMs
  /** A page about the deprecation, as an http(s) URL or a path: the `Link` header with `rel="deprecation"`. */
  readonly link?: string
}

const DEPRECATED: OptionTable<Deprecation> = {
  deprecatedSince: true,
  sunset: true,
  link: true,
}

/** How an old name is treated. `serve`: it works. `Deprecation`: it works, and responses say so. `gone`: it gets a 410. */
export type AliasMode = 'serve' | Deprecation | 'gone'

/** An old name and its current name. */
export interface Rename {
  readonly from: string
  readonly to: string
  readonly mode: AliasMode
}

/** An old field of a request body. */
export interface RequestFieldRename extends Rename {
  /** The operation whose request body has the field. */
  readonly operation: string
  /** Whether the values under the old and the current name are compared ignoring case, as for hex addresses. */
  readonly ignoreCase?: boolean
}

const RENAME: OptionTable<Rename> = { from: true, to: true, mode: true }
const REQUEST_FIELD: OptionTable<RequestFieldRename> = { ...RENAME, operation: true, ignoreCase: true }

/** A renamed scope. With `to: null` it is retired: it is accepted and grants nothing. */
export interface ScopeRename {
  /** The surface on which the scope is requested. */
  readonly surface: string
  readonly from: string
  readonly to: string | null
  readonly mode: AliasMode
}

const SCOPE: OptionTable<ScopeRename> = { ...RENAME, surface: true }

/** All old names of an API. A list that is left out is empty. */
export interface AliasTable {
  /** Path prefixes of whole segments, such as `/consumer/v1` -> `/user/v1`. The longest matching prefix is used. */
  readonly prefixes?: readonly Rename[]
  /** Exact paths. They take precedence over prefixes. */
  readonly paths?: readonly Rename[]
  /** Request headers, in lower case. */
  readonly headers?: readonly Rename[]
  /** Fields of request bodies. `from` may be inside an object (`wallet.address`); `to` is at the top level. */
  readonly requestFields?: readonly RequestFieldRename[]
  /** Fields of responses that are also sent under an old name, until its mode is `gone`. */
  readonly responseFields?: readonly Rename[]
  readonly scopes?: readonly ScopeRename[]
  /** Security schemes of the API description. */
  readonly schemes?: readonly Rename[]
}

const TABLE: OptionTable<AliasTable> = {
  prefixes: true,
  paths: true,
  headers: true,
  requestFields: true,
  responseFields: true,
  scopes: true,
  schemes: true,
}

/** The kind of a name. */
export type AliasKind = 'prefix' | 'path' | 'header' | 'request-field' | 'response-field' | 'scope' | 'scheme'

/** One row of a table. */
export interface Alias {
  /** Identifies it in usage records and reports, such as `prefix:/consumer/v1` or `scope:user:old.read`. */
  readonly id: string
  readonly kind: AliasKind
  /** The operation of a request field, or the surface of a scope; otherwise empty. */
  readonly within: string
  readonly from: string
  readonly to: string | null
  readonly mode: AliasMode
}

/** An old name that a request uses. */
export interface MatchedAlias {
  readonly alias: Alias
  /** The current path, if the old name is a path. */
  readonly successor?: string
}

/** A row of any list of a table. */
interface Row extends Pick<Alias, 'from' | 'to' | 'mode'> {
  readonly operation?: string
  readonly surface?: string
}

function listRows<R extends Row>(
  name: keyof AliasTable,
  kind: AliasKind,
  list: readonly R[] = [],
  names: OptionTable<R>,
): Alias[] {
  if (!Array.isArray(list)) throw new TypeError(`alias table ${name} must be a list, not ${typeof list}`)
  return list.map((row: R, index) => {
    const where = `alias table ${name}[${index}]`
    const { from, to, mode, operation, surface } = checkOptions<Row, OptionTable<Row>>(
      where,
      row,
      names as never,
    )
    if (typeof mode === 'object') checkOptions(`${where} mode`, mode, DEPRECATED)
    const within = operation ?? surface ?? ''
    return { id: [kind, within, from].filter(part => part !== '').join(':'), kind, within, from, to, mode }
  })
}

/** The rows of tables that have been read: an API description asks for them at each of its paths. */
const listed = new WeakMap<AliasTable, readonly Alias[]>()

/**
 * Lists the rows of a table by kind. Throws a `TypeError` for an unknown member of the table, a row or a mode. A table is read once:
 * later changes of the same object are ignored.
 */
export function listAliases(table: AliasTable): readonly Alias[] {
  const known = listed.get(table)
  if (known) return known
  const aliases = readAliases(table)
  listed.set(table, aliases)
  return aliases
}

function readAliases(table: AliasTable): readonly Alias[] {
  const { prefixes, paths, headers, requestFields, responseFields, scopes, schemes } = checkOptions(
    'alias table',
    table,
    TABLE,
  )
  return [
    ...listRows('prefixes', 'prefix', prefixes, RENAME),
    ...listRows('paths', 'path', paths, RENAME),
    ...listRows('headers', 'header', headers, RENAME),
    ...listRows('requestFields', 'request-field', requestFields, REQUEST_FIELD),
    ...listRows('responseFields', 'response-field', responseFields, RENAME),
    ...listRows('scopes', 'scope', scopes, SCOPE),
    ...listRows('schemes', 'scheme', schemes, RENAME),
  ]
}

/** Whether a mode is a `Deprecation`. */
export function isDeprecated(mode: AliasMode): mode is Deprecation {
  return typeof mode === 'object'
}
