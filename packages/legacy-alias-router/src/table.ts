import { knownOptions, type EpochMs, type OptionNames } from '@gatewright/kernel'

/** A deprecated name works as before; answers to calls that use it say so. */
export interface Deprecated {
  /** Since when, or from when on: `Deprecation` (RFC 9745). */
  readonly deprecatedSince: EpochMs
  /**
   * When it stops working, not before `deprecatedSince`: `Sunset` (RFC 8594). It announces and ends nothing: the
   * name works until its mode is `gone`. A whole second, because HTTP dates are.
   */
  readonly sunset?: EpochMs
  /** A page for people, as an http(s) URL or a path: `Link` with `rel="deprecation"`. */
  readonly link?: string
}

const DEPRECATED: OptionNames<Deprecated> = {
  deprecatedSince: true,
  sunset: true,
  link: true,
}

/** How an old name is treated: works and says nothing, works and says that it is deprecated, or answers 410. */
export type AliasMode = 'serve' | Deprecated | 'gone'

/** An old spelling and the current one. */
export interface Rename {
  readonly from: string
  readonly to: string
  readonly mode: AliasMode
}

/** An old field of a request body. */
export interface RequestFieldRename extends Rename {
  /** The operation whose bodies it is read in. */
  readonly operation: string
  /** Twins that differ in letter case only count as equal, as with hex addresses. */
  readonly ignoreCase?: boolean
}

const RENAME: OptionNames<Rename> = { from: true, to: true, mode: true }
const REQUEST_FIELD: OptionNames<RequestFieldRename> = { ...RENAME, operation: true, ignoreCase: true }

/** A scope that has another name now, or none (`to: null`): then it is accepted and grants nothing. */
export interface ScopeRename {
  /** The kind of credential it is asked for. */
  readonly surface: string
  readonly from: string
  readonly to: string | null
  readonly mode: AliasMode
}

const SCOPE: OptionNames<ScopeRename> = { ...RENAME, surface: true }

/** Every old name of an API, as data. A list that is left out is empty. */
export interface AliasTable {
  /** Path prefixes of whole segments, such as `/consumer/v1` -> `/user/v1`. The longest one that fits counts. */
  readonly prefixes?: readonly Rename[]
  /** Exact paths. They go before prefixes. */
  readonly paths?: readonly Rename[]
  /** Request headers, lower-case. */
  readonly headers?: readonly Rename[]
  /** Fields of request bodies. `from` may lie inside an object (`wallet.address`), `to` is at the top. */
  readonly requestFields?: readonly RequestFieldRename[]
  /** Answer fields that are sent a second time under an old name, until that is `gone`. */
  readonly answerFields?: readonly Rename[]
  readonly scopes?: readonly ScopeRename[]
  /** Names of security schemes in the API description. */
  readonly schemes?: readonly Rename[]
}

const TABLE: OptionNames<AliasTable> = {
  prefixes: true,
  paths: true,
  headers: true,
  requestFields: true,
  answerFields: true,
  scopes: true,
  schemes: true,
}

/** What kind of name an alias is. */
export type AliasKind = 'prefix' | 'path' | 'header' | 'request-field' | 'answer-field' | 'scope' | 'scheme'

/** One row of a table. */
export interface Alias {
  /** Names it in usage records and reports, such as `prefix:/consumer/v1` or `scope:user:old.read`. */
  readonly id: string
  readonly kind: AliasKind
  /** The operation of a request field, the surface of a scope, else empty. */
  readonly within: string
  readonly from: string
  readonly to: string | null
  readonly mode: AliasMode
}

/** An old name that a request used. */
export interface AliasUse {
  readonly alias: Alias
  /** The current path, when the old name was a path. */
  readonly successor?: string
}

/** A row of any list. */
interface Row extends Pick<Alias, 'from' | 'to' | 'mode'> {
  readonly operation?: string
  readonly surface?: string
}

function rows<R extends Row>(
  name: keyof AliasTable,
  kind: AliasKind,
  list: readonly R[] = [],
  names: OptionNames<R>,
): Alias[] {
  if (!Array.isArray(list)) throw new TypeError(`alias table ${name} must be a list, not ${typeof list}`)
  return list.map((row: R, index) => {
    const where = `alias table ${name}[${index}]`
    const { from, to, mode, operation, surface } = knownOptions<Row>(where, row, names as OptionNames<Row>)
    if (typeof mode === 'object') knownOptions(`${where} mode`, mode, DEPRECATED)
    const within = operation ?? surface ?? ''
    return { id: [kind, within, from].filter(part => part !== '').join(':'), kind, within, from, to, mode }
  })
}

/** Lists a table's rows, kind by kind. Throws a `TypeError` for a member that no table, row or mode has. */
export function listAliases(table: AliasTable): readonly Alias[] {
  const { prefixes, paths, headers, requestFields, answerFields, scopes, schemes } = knownOptions(
    'alias table',
    table,
    TABLE,
  )
  return [
    ...rows('prefixes', 'prefix', prefixes, RENAME),
    ...rows('paths', 'path', paths, RENAME),
    ...rows('headers', 'header', headers, RENAME),
    ...rows('requestFields', 'request-field', requestFields, REQUEST_FIELD),
    ...rows('answerFields', 'answer-field', answerFields, RENAME),
    ...rows('scopes', 'scope', scopes, SCOPE),
    ...rows('schemes', 'scheme', schemes, RENAME),
  ]
}

/** Whether a mode has dates to tell. */
export function isDeprecated(mode: AliasMode): mode is Deprecated {
  return typeof mode === 'object'
}
