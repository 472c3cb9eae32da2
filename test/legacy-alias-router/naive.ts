// The translation of old paths, headers, fields and scopes, written from the README of the package alone: a loop over the table, and
// operations on strings.
import type { AliasTable } from '@gatewright/legacy-alias-router'
import type { Rename } from '#packages/legacy-alias-router/dist/table.js'

/** What a reader returns: a denial by its code and field, or what was translated with the ids of the rows used. */
export type Outcome<T> =
  | { readonly code: 'gone' | 'invalid_request'; readonly field?: string | undefined }
  | ({ readonly used: readonly string[] } & T)

const SAFE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,=:@"

/** The byte of `%XY` at a place; undefined if these are no two hexadecimal digits. */
function encodedByte(text: string, at: number): number | undefined {
  const digits = text.slice(at + 1, at + 3).toLowerCase()
  const isHex = digits.length === 2 && [...digits].every(digit => '0123456789abcdef'.includes(digit))
  return isHex ? Number.parseInt(digits, 16) : undefined
}

/** Whether routers could read a segment differently. */
function isAmbiguous(segment: string): boolean {
  if (segment === '' || segment === '.' || segment === '..') return true
  const bytes: number[] = []
  for (let at = 0; at < segment.length; at += 1) {
    const character = segment[at] as string
    if (character !== '%') {
      if (!SAFE.includes(character)) return true
      bytes.push(character.charCodeAt(0))
      continue
    }
    const byte = encodedByte(segment, at)
    if (byte === undefined || byte < 0x20 || byte === 0x7f) return true
    if (['/', '\\', '.'].includes(String.fromCharCode(byte))) return true
    bytes.push(byte)
    at += 2
  }
  const buffer = Buffer.from(bytes)
  return !Buffer.from(buffer.toString()).equals(buffer)
}

/** Translates a path: by the row of exactly this path, else by the longest prefix of whole segments. */
export function naivePath(table: AliasTable, path: string): Outcome<{ readonly path: string }> {
  const unchanged = { path, used: [] }
  if (!path.startsWith('/')) return unchanged
  const segments = path.slice(1).split('/')
  if (segments.length > 1 && segments.at(-1) === '') segments.pop()
  if (segments.some(isAmbiguous)) return unchanged
  const exact = (table.paths ?? []).find(({ from }) => from === path)
  let longest: Rename | undefined
  for (const row of table.prefixes ?? [])
    if (path === row.from || path.startsWith(`${row.from}/`))
      if (longest === undefined || row.from.length > longest.from.length) longest = row
  const row = exact ?? longest
  if (row === undefined) return unchanged
  if (row.mode === 'gone') return { code: 'gone' }
  return { path: row.to + path.slice(row.from.length), used: [`${exact ? 'path' : 'prefix'}:${row.from}`] }
}

type Values = Readonly<Record<string, unknown>>

/** Reads headers under their current names. Old names with equal values are one. */
export function naiveHeaders(
  table: AliasTable,
  sent: Readonly<Record<string, string>>,
): Outcome<{ readonly headers: Values }> {
  const headers: Record<string, string> = {}
  const used: string[] = []
  for (const { from, to, mode } of table.headers ?? []) {
    const old = sent[from]
    if (old === undefined) continue
    used.push(`header:${from}`)
    const current = headers[to] ?? sent[to]
    if (mode === 'gone' && current === undefined) return { code: 'gone', field: from }
    if (mode === 'gone') continue
    if (current !== undefined && current !== old) return { code: 'invalid_request', field: to }
    headers[to] = old
  }
  return { headers, used }
}

function valueAt(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return value
  if (typeof value !== 'object' || value === null) return undefined
  return valueAt(Object.entries(value).find(([each]) => each === name)?.[1], rest)
}

/** Translates the fields of a body. `null` counts as absent. */
export function naiveFields(
  table: AliasTable,
  operation: string,
  sent: Values,
): Outcome<{ readonly body: Values }> {
  let entries = Object.entries(sent)
  const used: string[] = []
  for (const row of table.requestFields ?? []) {
    if (row.operation !== operation) continue
    const { from, to, mode, ignoreCase } = row
    const old = valueAt(sent, from.split('.')) ?? undefined
    if (!from.includes('.')) entries = entries.filter(([name]) => name !== from)
    if (old === undefined) continue
    used.push(`request-field:${operation}:${from}`)
    const current: unknown = entries.find(([name]) => name === to)?.[1] ?? undefined
    if (mode === 'gone' && current === undefined) return { code: 'gone', field: from }
    if (mode === 'gone') continue
    const text = (value: unknown): string => {
      const written = JSON.stringify(value)
      return ignoreCase === true && typeof value === 'string' ? written.toLowerCase() : written
    }
    if (current !== undefined && text(current) !== text(old)) return { code: 'invalid_request', field: to }
    if (current === undefined) entries = [...entries.filter(([name]) => name !== to), [to, old]]
  }
  return { body: Object.fromEntries(entries), used }
}

/** Translates requested scopes; a retired scope has no current name. */
export function naiveScopes(
  table: AliasTable,
  surface: string,
  requested: readonly string[],
): Outcome<{ readonly scopes: readonly string[]; readonly ignored: readonly string[] }> {
  const scopes: string[] = []
  const ignored: string[] = []
  const used: string[] = []
  for (const name of requested) {
    const row = (table.scopes ?? []).find(each => each.surface === surface && each.from === name)
    if (row?.mode === 'gone') return { code: 'gone' }
    if (row) used.push(`scope:${surface}:${name}`)
    if (row?.to === null) ignored.push(name)
    else scopes.push(row?.to ?? name)
  }
  const once = (list: readonly string[]): string[] => list.filter((name, at) => list.indexOf(name) === at)
  return { scopes: once(scopes), ignored: once(ignored), used: once(used) }
}
