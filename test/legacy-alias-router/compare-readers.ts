// Compares the readers of random alias tables with their naive rewrite.
import { deepEqual } from 'node:assert/strict'
import { createAliases, type AliasTable, type MatchedAlias } from '@gatewright/legacy-alias-router'
import fc from 'fast-check'
import { naiveFields, naiveHeaders, naivePath, naiveScopes } from './naive.ts'

const mode = fc.constantFrom(
  'serve' as const,
  'gone' as const,
  { deprecatedSince: 0 },
  { deprecatedSince: 0 },
)
const segment = fc.constantFrom('a', 'b', 'A', 'a.b', 'v1', '~', 'keys')
const oldPath = fc.array(segment, { minLength: 1, maxLength: 3 }).map(parts => `/${parts.join('/')}`)
const header = fc.constantFrom('x-a', 'x-b', 'x-c', 'x-d')
const field = fc.constantFrom('a', 'b', 'c', 'd', 'constructor')
const inner = fc.array(field, { minLength: 1, maxLength: 3 }).map(parts => parts.join('.'))
const scope = fc.constantFrom('a.read', 'b.read', 'c.read', 'd.read')
const operation = fc.constantFrom('a.read', 'a.write')
const surface = fc.constantFrom('user', 'partner')

type Row = {
  readonly [L in keyof AliasTable]-?: readonly [list: L, row: NonNullable<AliasTable[L]>[number]]
}[keyof AliasTable]
const row: fc.Arbitrary<Row> = fc.oneof(
  fc.tuple(fc.constant('prefixes' as const), fc.record({ from: oldPath, to: oldPath, mode })),
  fc.tuple(fc.constant('prefixes' as const), fc.record({ from: oldPath, to: oldPath, mode })),
  fc.tuple(fc.constant('paths' as const), fc.record({ from: oldPath, to: oldPath, mode })),
  fc.tuple(fc.constant('headers' as const), fc.record({ from: header, to: header, mode })),
  fc.tuple(
    fc.constant('requestFields' as const),
    fc.record({ operation, from: inner, to: field, ignoreCase: fc.boolean(), mode }),
  ),
  fc.tuple(
    fc.constant('scopes' as const),
    fc.record({ surface, from: scope, to: fc.option(scope, { freq: 3 }), mode }),
  ),
)

/** A table of those rows that a table may have beside the rows before them. */
const table = fc.array(row, { maxLength: 14, size: 'max' }).map(rows =>
  rows.reduce<AliasTable>((made, [list, added]) => {
    const longer: AliasTable = { ...made, [list]: [...(made[list] ?? []), added] }
    try {
      createAliases(longer)
      return longer
    } catch {
      return made
    }
  }, {}),
)

const odd = fc.constantFrom(
  ...'|.|..|...|%61|%2e|%2E%2e|%2f|%2F|%5c|%c3%a9|%C3|%ff|%00|%1f|%7f|%20|%zz|%|%4|a;b|a b|é|\\|a?b=c|?q=/a|#x|%25|@:&=+$,|*|"'.split(
    '|',
  ),
)
const parts = fc
  .array(fc.oneof({ weight: 2, arbitrary: segment }, { weight: 1, arbitrary: odd }), { maxLength: 3 })
  .map(list => list.join('/'))
/** Most paths begin with an old path of the table: that of this row. */
const requestPath = fc.record({
  row: fc.option(fc.nat(), { nil: undefined, freq: 4 }),
  start: fc.constantFrom('/', '/', '/', '//', '', '/%61/'),
  parts,
  end: fc.constantFrom('', '', '', '/', '//', '?a=/b'),
})
type RequestPath = typeof requestPath extends fc.Arbitrary<infer P> ? P : never

function pathOf(
  { prefixes = [], paths = [] }: AliasTable,
  { row: at, start, parts: text, end }: RequestPath,
): string {
  const all = [...prefixes, ...paths]
  const known = at === undefined ? undefined : all[at % Math.max(all.length, 1)]
  if (known === undefined) return start + text + end
  return text === '' ? known.from + end : `${known.from}/${text}${end}`
}

const value = fc.constantFrom<unknown>(
  'x',
  'X',
  'y',
  null,
  undefined,
  1,
  true,
  ['x'],
  { a: 'x' },
  { a: { b: 'X' }, b: null },
)
const body = fc.dictionary(field, fc.oneof(value, fc.dictionary(field, value, { maxKeys: 2 })), {
  maxKeys: 4,
})
const headers = fc.dictionary(header, fc.constantFrom('k', 'l', ''), { maxKeys: 3 })
const requested = fc.array(fc.oneof(scope, fc.constant('other.read')), { maxLength: 4 })

const ids = (used: readonly MatchedAlias[]): string[] => used.map(({ alias }) => alias.id)

/** Compares every reader on each table. Returns how often a request used old names, and how often it was denied. */
export function compareReaders(numRuns: number): { used: number; denied: number } {
  const tally = { used: 0, denied: 0 }
  const same = (ours: object, naive: object): void => {
    deepEqual(ours, naive)
    if ('code' in naive) tally.denied += 1
    else if ((naive as { used: readonly string[] }).used.length > 0) tally.used += 1
  }
  const requests = fc.array(fc.record({ path: requestPath, headers, body, operation, surface, requested }), {
    minLength: 1,
    maxLength: 10,
  })
  fc.assert(
    fc.property(table, requests, (rows, all) => {
      const aliases = createAliases(rows)
      for (const request of all) {
        const path = pathOf(rows, request.path)
        const plain = aliases.resolve({ path, header: () => undefined })
        same(
          plain.ok ? { path: plain.value.path, used: ids(plain.value.used) } : { code: plain.code },
          naivePath(rows, path),
        )
        const named = aliases.resolve({ path: '*', header: name => request.headers[name] })
        same(
          named.ok
            ? { headers: { ...named.value.headers }, used: ids(named.value.used) }
            : { code: named.code, field: named.field },
          naiveHeaders(rows, request.headers),
        )
        const fields = aliases.readFields(request.operation, request.body)
        same(
          fields.ok
            ? { body: { ...fields.value.body }, used: ids(fields.value.used) }
            : { code: fields.code, field: fields.field },
          naiveFields(rows, request.operation, request.body),
        )
        const scopes = aliases.readScopes(request.surface, request.requested)
        same(
          scopes.ok
            ? { scopes: scopes.value.scopes, ignored: scopes.value.ignored, used: ids(scopes.value.used) }
            : { code: scopes.code },
          naiveScopes(rows, request.surface, request.requested),
        )
      }
    }),
    { numRuns },
  )
  return tally
}
