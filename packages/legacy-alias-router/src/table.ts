import type { EpochMs } from '@gatewright/kernel'

/** How an old name is treated. Both work alike; a deprecated one says so in the answer. */
export type AliasMode = 'serve' | { readonly deprecatedSince: EpochMs }

/** An old spelling of a path (whole segments from the start) or of a header. */
export interface Rename {
  readonly from: string
  readonly to: string
  readonly mode: AliasMode
}

/** Every old name of an API, as data. */
export interface AliasTable {
  /** Paths and path prefixes, such as `/consumer/v1` -> `/user/v1`. */
  readonly paths: readonly Rename[]
  /** Request headers, lower-case. */
  readonly headers: readonly Rename[]
  /** Answer fields that appear a second time under an old name: current name -> old name. */
  readonly answerTwins: Readonly<Record<string, string>>
  /** Scopes that may still be asked for and grant nothing, by surface. */
  readonly retiredScopes: Readonly<Record<string, readonly string[]>>
}

const PATH = /^(?:\/[a-z0-9._-]+)+$/
const HEADER = /^[a-z0-9-]+$/

/** Checks a table once. Throws a `TypeError` that names the entry: bad spelling, repeats, chains and cycles. */
export function checkTable(table: AliasTable): void {
  for (const [kind, shape, list] of [
    ['path', PATH, table.paths],
    ['header', HEADER, table.headers],
  ] as const) {
    const olds = new Set(list.map(rename => rename.from))
    if (olds.size !== list.length) throw new TypeError(`a legacy ${kind} is listed twice`)
    for (const { from, to } of list) {
      if (!shape.test(from) || !shape.test(to)) throw new TypeError(`"${from}" -> "${to}" is not a ${kind}`)
      if (olds.has(to)) throw new TypeError(`"${from}" leads to "${to}", which is itself a legacy ${kind}`)
      if (kind === 'path' && `${to}/`.startsWith(`${from}/`)) {
        throw new TypeError(`"${from}" leads below itself`)
      }
    }
  }
}
