import { pathFinder } from './paths.ts'
import { isDeprecated, listAliases, type Alias, type AliasKind, type AliasTable } from './table.ts'

const FIELD = /^(?!__proto__)[A-Za-z_$][\w$-]*$/
const SHAPES: Readonly<Record<AliasKind, RegExp>> = {
  prefix: /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)+$/,
  path: /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)+$/,
  header: /^[a-z0-9-]+$/,
  'request-field': /^(?!__proto__)[A-Za-z_$][\w$-]*(?:\.(?!__proto__)[A-Za-z_$][\w$-]*)*$/,
  'answer-field': FIELD,
  // `scope-token` of RFC 6749 section 3.3.
  scope: /^[\x21\x23-\x5b\x5d-\x7e]+$/,
  // Keys of OpenAPI components.
  scheme: /^[A-Za-z0-9._-]+$/,
}
/** Long enough for any name; usage storage takes ids of up to 256 characters. */
const MOST_CHARACTERS = 200

function wrong(alias: Alias, what: string): never {
  throw new TypeError(`alias ${alias.id}: ${what}`)
}

function checkNames(alias: Alias): void {
  const { id, kind, within, from, to } = alias
  if (id.length > MOST_CHARACTERS) wrong(alias, `is longer than ${MOST_CHARACTERS} characters`)
  if (!SHAPES[kind].test(from)) wrong(alias, `"${from}" is not a ${kind}`)
  const target = kind === 'request-field' ? FIELD : SHAPES[kind]
  if (to === null ? kind !== 'scope' : !target.test(to)) wrong(alias, `"${String(to)}" is not a ${kind}`)
  if ((kind === 'request-field' || kind === 'scope') && !/^[\w.-]+$/.test(within)) {
    wrong(alias, `"${within}" names no ${kind === 'scope' ? 'surface' : 'operation'}`)
  }
}

function checkMode(alias: Alias): void {
  const { mode } = alias
  if (mode === 'serve' || mode === 'gone') return
  if (!isDeprecated(mode)) wrong(alias, `mode must be serve, gone or dates, not ${String(mode)}`)
  const { deprecatedSince, sunset, link } = mode
  for (const date of [deprecatedSince, sunset ?? 0]) {
    if (!Number.isSafeInteger(date) || date < 0) wrong(alias, 'dates must be epoch milliseconds')
  }
  if (sunset !== undefined && sunset < deprecatedSince) wrong(alias, 'its sunset is before its deprecation')
  if (sunset !== undefined && sunset % 1000 !== 0) wrong(alias, 'its sunset must be a whole second')
  if (link !== undefined && !/^(?:https?:\/\/|\/(?!\/))[\x21\x23-\x3b\x3d\x3f-\x7e]+$/.test(link)) {
    wrong(alias, 'its link must be an http(s) URL or a path')
  }
}

/** Flat names: what an old name leads to must not be an old name itself. */
function checkChains(aliases: readonly Alias[]): void {
  const olds = new Set(aliases.map(({ kind, within, from }) => `${kind}:${within}:${from}`))
  for (const alias of aliases) {
    const { kind, within, from, to } = alias
    if (olds.has(`${kind}:${within}:${to}`)) {
      wrong(alias, `leads to "${to}", which is itself an old ${kind}${to === from ? ': itself' : ''}`)
    }
    if (kind !== 'request-field') continue
    const parts = from.split('.')
    if (parts[0] === to) wrong(alias, `"${from}" lies inside "${to}"`)
    for (let length = 1; length < parts.length; length++) {
      const outer = parts.slice(0, length).join('.')
      if (olds.has(`${kind}:${within}:${outer}`)) wrong(alias, `"${outer}" is an old name too`)
    }
  }
}

/**
 * Paths: a translated path must be a current one, or old spellings of one thing would part. A prefix may lead
 * above an old path only if the spelling it makes of that path has a row of its own, with the same target.
 */
function checkPaths(aliases: readonly Alias[]): void {
  const paths = aliases.filter(({ kind }) => kind === 'path' || kind === 'prefix')
  const find = pathFinder(aliases)
  const seen = new Set<string>()
  for (const alias of paths) {
    if (seen.has(alias.from)) wrong(alias, 'is listed twice')
    seen.add(alias.from)
    const to = alias.to as string
    const next = find(to)
    if (next) {
      wrong(alias, next === alias ? 'leads below itself' : `leads to "${to}", which is itself an old path`)
    }
    if (alias.kind === 'path') continue
    for (const below of paths) {
      if (!below.from.startsWith(`${to}/`)) continue
      const spelling = alias.from + below.from.slice(to.length)
      const row = paths.find(({ kind, from }) => kind === below.kind && from === spelling)
      if (row?.to !== below.to) {
        wrong(alias, `also leads to "${below.from}", an old path: list "${spelling}" -> "${below.to}"`)
      }
    }
  }
}

/**
 * Checks a table and lists its rows. Throws a `TypeError` that names the row: bad spelling, repeats, chains and
 * cycles, a sunset before its deprecation, dates and links that cannot be sent.
 */
export function checkedAliases(table: AliasTable): readonly Alias[] {
  const aliases = listAliases(table)
  const ids = new Set<string>()
  for (const alias of aliases) {
    if (ids.has(alias.id)) wrong(alias, 'is listed twice')
    ids.add(alias.id)
    checkNames(alias)
    checkMode(alias)
  }
  checkChains(aliases.filter(({ kind }) => kind !== 'path' && kind !== 'prefix'))
  checkPaths(aliases)
  return aliases
}

/**
 * Checks that no old path hides a path that is served, given as `/user/v1/keys/{id}` or `/user/v1/keys/:id`; a
 * parameter stands for any segment. Throws a `TypeError` that names both. Call it once, with all routes.
 */
export function checkShadowing(table: AliasTable, served: readonly string[]): void {
  const paths = listAliases(table).filter(({ kind }) => kind === 'path' || kind === 'prefix')
  for (const path of served) {
    const segments = path.split('/')
    for (const alias of paths) {
      const old = alias.from.split('/')
      const fits = alias.kind === 'path' ? old.length === segments.length : old.length <= segments.length
      const same = old.every((segment, index) => {
        const other = segments[index] as string
        return segment === other || /^[:{]/.test(other)
      })
      if (fits && same) wrong(alias, `hides "${path}", which is served`)
    }
  }
}

/** A row whose sunset has come while its mode is not `gone` yet. */
export interface DueAlias {
  readonly alias: Alias
  readonly sunset: number
}

/** Lists the rows past their date, the oldest first. A sunset that is exactly `now` has come. */
export function dueAliases(table: AliasTable, now: number): readonly DueAlias[] {
  return listAliases(table)
    .flatMap(alias => {
      const sunset = isDeprecated(alias.mode) ? alias.mode.sunset : undefined
      return sunset !== undefined && sunset <= now ? [{ alias, sunset }] : []
    })
    .sort((one, other) => one.sunset - other.sunset)
}
