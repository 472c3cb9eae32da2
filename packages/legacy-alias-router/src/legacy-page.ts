import { isDeprecated, listAliases, type Alias, type AliasKind, type AliasTable } from './table.ts'

const TITLES: Readonly<Record<AliasKind, string>> = {
  prefix: 'Path prefixes',
  path: 'Paths',
  header: 'Request headers',
  'request-field': 'Fields of request bodies',
  'response-field': 'Fields of responses',
  scope: 'Scopes',
  scheme: 'Security schemes of the API description',
}

const day = (at: number): string => new Date(at).toISOString().slice(0, 10)

function tableRow({ within, from, to, mode }: Alias): string {
  const dates = isDeprecated(mode) ? mode : undefined
  const state = dates
    ? `deprecated since ${day(dates.deprecatedSince)}`
    : mode === 'gone'
      ? 'gone (410)'
      : 'served'
  const until = dates?.sunset === undefined ? '' : `, until ${day(dates.sunset)}`
  const link = dates?.link === undefined ? '' : `, [more](${dates.link})`
  const current = to === null ? 'none: accepted, grants nothing' : `\`${to}\``
  return `| \`${from}\` | ${current} | ${within === '' ? 'all' : `\`${within}\``} | ${state}${until}${link} |`
}

/** Renders a table as a Markdown page for clients. */
export function legacyPage(table: AliasTable): string {
  const aliases = listAliases(table)
  const sections = Object.entries(TITLES).flatMap(([kind, title]) => {
    const lines = aliases.filter(alias => alias.kind === kind).map(tableRow)
    if (lines.length === 0) return []
    return [`## ${title}\n\n| Old | Current | In | State |\n|---|---|---|---|\n${lines.join('\n')}\n`]
  })
  return `# Old names\n\n<!-- Generated from the alias table. Do not edit. -->\n\n${sections.join('\n')}`
}
