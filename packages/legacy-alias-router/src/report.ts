import type { EpochMs } from '@gatewright/kernel'
import type { AliasUsage, AliasUsageStorage } from './storage/port.ts'
import { isDeprecated, listAliases, type Alias, type AliasTable } from './table.ts'

/** Who still uses which old name. Plain JSON; instants are RFC 3339. */
export interface AliasReport {
  readonly at: string
  readonly aliases: readonly {
    readonly id: string
    readonly from: string
    readonly to: string | null
    /** `unlisted`: it was used, and is not in the table. */
    readonly mode: 'serve' | 'deprecated' | 'gone' | 'unlisted'
    readonly deprecatedSince: string | null
    readonly sunset: string | null
    /** Whether the name still works although its sunset has passed. */
    readonly due: boolean
    /** False for response fields and schemes: a server cannot see whether a client reads them, so a count of 0 says nothing. */
    readonly observable: boolean
    readonly count: number
    readonly lastSeen: string | null
    /** The callers that used it, the latest first. */
    readonly users: readonly {
      /** The caller: the key or account id that used it, or `anonymous`. Clients of the report read this member, so it keeps this name. */
      readonly principal: string
      readonly count: number
      readonly firstSeen: string
      readonly lastSeen: string
    }[]
  }[]
}

const PAGE_ROWS = 1000
const toInstant = (at: EpochMs | undefined): string | null =>
  at === undefined ? null : new Date(at).toISOString()

async function readAll(storage: AliasUsageStorage): Promise<Map<string, AliasUsage[]>> {
  const byAlias = new Map<string, AliasUsage[]>()
  let last: AliasUsage | undefined
  for (;;) {
    const page = await storage.page(last, PAGE_ROWS)
    for (const row of page) {
      const rows = byAlias.get(row.alias)
      if (rows) rows.push(row)
      else byAlias.set(row.alias, [row])
    }
    if (page.length < PAGE_ROWS) return byAlias
    last = page.at(-1)
  }
}

function reportEntry(
  alias: Alias | undefined,
  id: string,
  usage: readonly AliasUsage[],
  now: EpochMs,
): AliasReport['aliases'][number] {
  const dates = alias && isDeprecated(alias.mode) ? alias.mode : undefined
  const users = [...usage].sort((one, other) => other.lastSeen - one.lastSeen)
  const mode = alias === undefined ? 'unlisted' : isDeprecated(alias.mode) ? 'deprecated' : alias.mode
  return {
    id,
    from: alias?.from ?? id,
    to: alias?.to ?? null,
    mode,
    deprecatedSince: toInstant(dates?.deprecatedSince),
    sunset: toInstant(dates?.sunset),
    due: dates?.sunset !== undefined && dates.sunset <= now,
    observable: alias?.kind !== 'response-field' && alias?.kind !== 'scheme',
    count: usage.reduce((sum, { count }) => sum + count, 0),
    lastSeen: toInstant(users[0]?.lastSeen),
    users: users.map(({ caller, count, firstSeen, lastSeen }) => ({
      principal: caller,
      count,
      firstSeen: new Date(firstSeen).toISOString(),
      lastSeen: new Date(lastSeen).toISOString(),
    })),
  }
}

/**
 * Reports who still uses which old name: first every row of the table, used or not, then used names that are not in the
 * table. Counts of running processes are late by up to their `flushMs`. Faults: those of the storage.
 */
export async function aliasReport(
  storage: AliasUsageStorage,
  table: AliasTable,
  now: EpochMs,
): Promise<AliasReport> {
  const usage = await readAll(storage)
  const listed = listAliases(table)
  const ids = new Set(listed.map(({ id }) => id))
  const unlisted = [...usage.keys()].filter(id => !ids.has(id))
  return {
    at: new Date(now).toISOString(),
    aliases: [
      ...listed.map(alias => reportEntry(alias, alias.id, usage.get(alias.id) ?? [], now)),
      ...unlisted.map(id => reportEntry(undefined, id, usage.get(id) ?? [], now)),
    ],
  }
}

/** Formats a text table with aligned columns. The first line is the header. */
function alignColumns(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map(cells => cells[column]?.length ?? 0)),
  )
  return lines
    .map(cells =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Formats a report for a terminal: a line per old name and user, the latest user first. */
export function reportText({ at, aliases }: AliasReport): string {
  const day = (instant: string | null): string => (instant === null ? '-' : instant.slice(0, 10))
  const lines = aliases.flatMap(({ id, mode, due, observable, sunset, users }) => {
    const head = [id, due ? 'past its sunset' : mode, day(sunset)]
    if (users.length === 0)
      return [[...head, observable ? '-' : 'not known', observable ? '0' : '-', '-', '-']]
    return users.map(({ principal, count, firstSeen, lastSeen }) => [
      ...head,
      principal,
      String(count),
      day(firstSeen),
      day(lastSeen),
    ])
  })
  const head = ['old name', 'mode', 'sunset', 'used by', 'calls', 'first', 'last']
  return `Old names and who uses them, ${at}\n\n${alignColumns([head, ...lines])}\n`
}
