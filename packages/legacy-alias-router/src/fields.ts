import { allow, type Verdict } from '@gatewright/kernel'
import { deny, type AliasDenial } from './codes.ts'
import type { Alias, AliasTable, AliasUse, RequestFieldRename } from './table.ts'

type Body = Readonly<Record<string, unknown>>

/** A request body under current names. */
export interface FieldsRead {
  readonly body: Record<string, unknown>
  readonly used: readonly AliasUse[]
}

/** An old field as it is looked for: its row, the path to it, and how twins compare. */
interface OldField {
  readonly alias: Alias
  readonly to: string
  readonly path: readonly string[]
  readonly ignoreCase: boolean
}

/** Own properties only; null counts as absent, because clients send it for "none". */
function valueAt(body: Body, path: readonly string[]): unknown {
  let value: unknown = body
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Body)[name]
  }
  return value ?? undefined
}

function same(one: unknown, other: unknown, ignoreCase: boolean): boolean {
  if (ignoreCase && typeof one === 'string' && typeof other === 'string') {
    return one.toLowerCase() === other.toLowerCase()
  }
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}

/** Compiles the request fields of a table: see `Aliases.readFields`. */
export function fieldReader(
  table: AliasTable,
  aliases: readonly Alias[],
): (operation: string, body: Body) => Verdict<FieldsRead, AliasDenial> {
  const rows = aliases.filter(({ kind }) => kind === 'request-field')
  const byOperation = new Map<string, OldField[]>()
  for (const [index, row] of (table.requestFields ?? []).entries()) {
    const { from, to, ignoreCase = false } = row satisfies RequestFieldRename
    const field = { alias: rows[index] as Alias, to, path: from.split('.'), ignoreCase }
    byOperation.set(row.operation, [...(byOperation.get(row.operation) ?? []), field])
  }

  return (operation, received) => {
    const body = { ...received }
    const used: AliasUse[] = []
    for (const { alias, to, path, ignoreCase } of byOperation.get(operation) ?? []) {
      const { from, mode } = alias
      const old = valueAt(received, path)
      if (old === undefined) continue
      const current = Object.hasOwn(body, to) ? (body[to] ?? undefined) : undefined
      used.push({ alias })
      if (mode === 'gone') {
        if (current !== undefined) continue
        return deny('gone', `${from} is gone: send ${to}`, used, from)
      }
      if (current !== undefined && !same(current, old, ignoreCase)) {
        const message = `${to} and its old name ${from} differ: send one`
        return deny('invalid_request', message, used, to)
      }
      body[to] = current ?? old
      if (path.length === 1) delete body[from]
    }
    return allow({ body, used })
  }
}

/** Compiles the answer fields of a table: see `Aliases.withTwins`. */
export function twinWriter(aliases: readonly Alias[]): (fields: Body) => Record<string, unknown> {
  const twins = aliases.filter(({ kind, mode }) => kind === 'answer-field' && mode !== 'gone')
  return fields => {
    const copy = { ...fields }
    for (const { from, to } of twins) {
      if (Object.hasOwn(fields, to as string)) copy[from] = fields[to as string]
    }
    return copy
  }
}
