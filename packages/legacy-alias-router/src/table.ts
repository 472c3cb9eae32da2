import type { EpochMs } from '@gatewright/kernel'

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

/** A scope that has another name now, or none (`to: null`): then it is accepted and grants nothing. */
export interface ScopeRename {
  /** The kind of credential it is asked for. */
  readonly surface: string
  readonly from: string
  readonly to: string | null
  readonly mode: AliasMode
}

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

type Row = Pick<Alias, 'from' | 'to' | 'mode'>

function rows<R extends Row>(
  kind: AliasKind,
  list: readonly R[] = [],
  withinOf: (row: R) => string = () => '',
): Alias[] {
  return list.map(row => {
    const { from, to, mode } = row
    const within = withinOf(row)
    return { id: [kind, within, from].filter(part => part !== '').join(':'), kind, within, from, to, mode }
  })
}

/** Lists a table's rows, kind by kind. */
export function listAliases(table: AliasTable): readonly Alias[] {
  return [
    ...rows('prefix', table.prefixes),
    ...rows('path', table.paths),
    ...rows('header', table.headers),
    ...rows('request-field', table.requestFields, row => row.operation),
    ...rows('answer-field', table.answerFields),
    ...rows('scope', table.scopes, row => row.surface),
    ...rows('scheme', table.schemes),
  ]
}

/** Whether a mode has dates to tell. */
export function isDeprecated(mode: AliasMode): mode is Deprecated {
  return typeof mode === 'object'
}
