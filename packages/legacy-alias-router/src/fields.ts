import { allow, type Verdict } from '@gatewright/kernel'
import { deny, type AliasDenial } from './codes.ts'
import type { Alias, AliasTable, MatchedAlias, RequestFieldRename } from './table.ts'

type Body = Readonly<Record<string, unknown>>

/** A request body under current names. */
export interface TranslatedFields {
  readonly body: Record<string, unknown>
  readonly used: readonly MatchedAlias[]
}

/** Reads the value at a path, of own properties only. Null counts as absent, because clients send it for "none". */
function valueAt(body: Body, path: readonly string[]): unknown {
  let value: unknown = body
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Body)[name]
  }
  return value ?? undefined
}

function isSame(one: unknown, other: unknown, ignoreCase: boolean): boolean {
  if (ignoreCase && typeof one === 'string' && typeof other === 'string') {
    return one.toLowerCase() === other.toLowerCase()
  }
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}

/** Makes `Aliases.readFields` for a table. */
export function createFieldReader(
  table: AliasTable,
  aliases: readonly Alias[],
): (operation: string, body: Body) => Verdict<TranslatedFields, AliasDenial> {
  const rows = aliases.filter(({ kind }) => kind === 'request-field')
  const byOperation = new Map<
    string,
    {
      readonly alias: Alias
      readonly to: string
      readonly path: readonly string[]
      readonly ignoreCase: boolean
    }[]
  >()
  for (const [index, row] of (table.requestFields ?? []).entries()) {
    const { from, to, ignoreCase = false } = row satisfies RequestFieldRename
    const field = { alias: rows[index] as Alias, to, path: from.split('.'), ignoreCase }
    byOperation.set(row.operation, [...(byOperation.get(row.operation) ?? []), field])
  }

  return (operation, received) => {
    const body = { ...received }
    const used: MatchedAlias[] = []
    for (const { alias, to, path, ignoreCase } of byOperation.get(operation) ?? []) {
      const { from, mode } = alias
      const old = valueAt(received, path)
      const current = Object.hasOwn(body, to) ? (body[to] ?? undefined) : undefined
      // Schemas of current bodies may reject a member that they do not know.
      if (path.length === 1) delete body[from]
      if (old === undefined) continue
      used.push({ alias })
      if (mode === 'gone') {
        if (current !== undefined) continue
        return deny('gone', `the field ${from} is gone: send ${to}`, used, from)
      }
      if (current !== undefined && !isSame(current, old, ignoreCase)) {
        const message = `${to} and its old name ${from} have different values: send only ${to}`
        return deny('invalid_request', message, used, to)
      }
      body[to] = current ?? old
    }
    return allow({ body, used })
  }
}

/** Makes `Aliases.withLegacyFields` for a table. */
export function createLegacyFieldWriter(
  aliases: readonly Alias[],
): (fields: Body) => Record<string, unknown> {
  const renames = aliases.filter(({ kind, mode }) => kind === 'response-field' && mode !== 'gone')
  return fields => {
    const copy = { ...fields }
    for (const { from, to } of renames) {
      // A field of the response that already has the old name, with another meaning, is unchanged.
      if (Object.hasOwn(fields, to as string) && !Object.hasOwn(fields, from))
        copy[from] = fields[to as string]
    }
    return copy
  }
}
