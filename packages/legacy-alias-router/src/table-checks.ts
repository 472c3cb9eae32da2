import { createPathIndex } from './paths.ts'
import { isDeprecated, listAliases, type Alias, type AliasKind, type AliasTable } from './table.ts'

const FIELD = /^(?!__proto__)[A-Za-z_$][\w$-]*$/
const PATTERNS: Readonly<Record<AliasKind, RegExp>> = {
  prefix: /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)+$/,
  path: /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)+$/,
  header: /^[a-z0-9-]+$/,
  'request-field': /^(?!__proto__)[A-Za-z_$][\w$-]*(?:\.(?!__proto__)[A-Za-z_$][\w$-]*)*$/,
  'response-field': FIELD,
  // `scope-token` of RFC 6749 section 3.3.
  scope: /^[\x21\x23-\x5b\x5d-\x7e]+$/,
  // Keys of OpenAPI components.
  scheme: /^[A-Za-z0-9._-]+$/,
}
/** The longest id. The usage storage accepts up to 256 characters. */
const MAX_ID_LENGTH = 200

function fail(alias: Alias, problem: string): never {
  throw new TypeError(`alias ${alias.id}: ${problem}`)
}

function assertNames(alias: Alias): void {
  const { id, kind, within, from, to } = alias
  if (id.length > MAX_ID_LENGTH)
    fail(alias, `its id must have at most ${MAX_ID_LENGTH} characters, got ${id.length}`)
  if (!PATTERNS[kind].test(from)) fail(alias, `"${from}" is not a ${kind}`)
  const target = kind === 'request-field' ? FIELD : PATTERNS[kind]
  if (to === null ? kind !== 'scope' : !target.test(to)) fail(alias, `"${String(to)}" is not a ${kind}`)
  if ((kind === 'request-field' || kind === 'scope') && !/^[\w.-]+$/.test(within)) {
    fail(alias, `"${within}" is not a valid ${kind === 'scope' ? 'surface' : 'operation'}`)
  }
}

function assertMode(alias: Alias): void {
  const { mode } = alias
  if (mode === 'serve' || mode === 'gone') return
  if (!isDeprecated(mode))
    fail(alias, `mode must be "serve", "gone" or an object with deprecatedSince, got ${String(mode)}`)
  const { deprecatedSince, sunset, link } = mode
  for (const date of [deprecatedSince, sunset ?? 0]) {
    if (!Number.isSafeInteger(date) || date < 0)
      fail(alias, 'deprecatedSince and sunset must be epoch milliseconds')
  }
  if (sunset !== undefined && sunset < deprecatedSince)
    fail(alias, 'sunset must not be before deprecatedSince')
  if (sunset !== undefined && sunset % 1000 !== 0) fail(alias, 'sunset must be a whole second')
  if (link !== undefined && !/^(?:https?:\/\/|\/(?!\/))[\x21\x23-\x3b\x3d\x3f-\x7e]+$/.test(link)) {
    fail(alias, 'link must be an http(s) URL or a path')
  }
}

/** Asserts for all names but paths: the current name of an alias must not be an old name itself. */
function assertChains(aliases: readonly Alias[]): void {
  const oldNames = new Set(aliases.map(({ kind, within, from }) => `${kind}:${within}:${from}`))
  for (const alias of aliases) {
    const { kind, within, from, to } = alias
    if (oldNames.has(`${kind}:${within}:${to}`)) {
      fail(alias, to === from ? `"${from}" leads to itself` : `leads to "${to}", which is an old ${kind} too`)
    }
    if (kind !== 'request-field') continue
    const parts = from.split('.')
    if (parts[0] === to) fail(alias, `"${from}" lies inside "${to}"`)
    for (let length = 1; length < parts.length; length++) {
      const outer = parts.slice(0, length).join('.')
      if (oldNames.has(`${kind}:${within}:${outer}`)) fail(alias, `"${outer}" is an old name too`)
    }
  }
}

/**
 * Asserts for paths: a translated path must not be an old path, because paths are translated only once. If a prefix leads to a
 * parent of an old path, the old spelling of that path under the prefix needs a row of its own with the same target.
 */
function assertPaths(aliases: readonly Alias[]): void {
  const paths = aliases.filter(({ kind }) => kind === 'path' || kind === 'prefix')
  const find = createPathIndex(aliases)
  const seen = new Set<string>()
  for (const alias of paths) {
    if (seen.has(alias.from)) fail(alias, 'is listed twice')
    seen.add(alias.from)
    const to = alias.to as string
    const next = find(to)
    if (next) {
      fail(alias, next === alias ? 'leads below itself' : `leads to "${to}", which is an old path too`)
    }
    if (alias.kind === 'path') continue
    for (const below of paths) {
      if (!below.from.startsWith(`${to}/`)) continue
      const spelling = alias.from + below.from.slice(to.length)
      const row = paths.find(({ kind, from }) => kind === below.kind && from === spelling)
      if (row?.to !== below.to) {
        fail(alias, `also leads to "${below.from}", an old path: list "${spelling}" -> "${below.to}"`)
      }
    }
  }
}

/**
 * Checks a table and returns its rows. Throws a `TypeError` that names the row for malformed and repeated names, chains and
 * cycles, a sunset before the deprecation, and dates and links that cannot be sent.
 */
export function checkedAliases(table: AliasTable): readonly Alias[] {
  const aliases = listAliases(table)
  const ids = new Set<string>()
  for (const alias of aliases) {
    if (ids.has(alias.id)) fail(alias, 'is listed twice')
    ids.add(alias.id)
    assertNames(alias)
    assertMode(alias)
  }
  assertChains(aliases.filter(({ kind }) => kind !== 'path' && kind !== 'prefix'))
  assertPaths(aliases)
  return aliases
}

/**
 * Checks that no old path hides a served path. Served paths are given as `/user/v1/keys/{id}` or `/user/v1/keys/:id`; a
 * parameter matches any segment. Throws a `TypeError` that names both. Call it once at start, with all routes.
 */
export function assertNoShadowing(table: AliasTable, served: readonly string[]): void {
  const paths = listAliases(table).filter(({ kind }) => kind === 'path' || kind === 'prefix')
  for (const path of served) {
    const segments = path.split('/')
    for (const alias of paths) {
      const old = alias.from.split('/')
      const hasLength = alias.kind === 'path' ? old.length === segments.length : old.length <= segments.length
      const hasSegments = old.every((segment, index) => {
        const other = segments[index] as string
        return segment === other || /^[:{]/.test(other)
      })
      if (hasLength && hasSegments) fail(alias, `hides "${path}", which is served`)
    }
  }
}

/** Lists the rows that still work although their sunset is `now` or earlier, the earliest first. */
export function dueAliases(
  table: AliasTable,
  now: number,
): readonly { readonly alias: Alias; readonly sunset: number }[] {
  return listAliases(table)
    .flatMap(alias => {
      const sunset = isDeprecated(alias.mode) ? alias.mode.sunset : undefined
      return sunset !== undefined && sunset <= now ? [{ alias, sunset }] : []
    })
    .sort((one, other) => one.sunset - other.sunset)
}
