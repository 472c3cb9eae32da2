import type { EpochMs } from '@gatewright/kernel'
import type { AliasUsage, AliasUsageStorage } from './storage/port.ts'
import { isDeprecated, listAliases, type Alias, type AliasTable } from './table.ts'

/** One principal's use of an old name. Instants are RFC 3339. */
export interface ReportedUser {
  readonly principal: string
  readonly count: number
  readonly firstSeen: string
  readonly lastSeen: string
}

/** What is known of one old name. */
export interface ReportedAlias {
  readonly id: string
  readonly from: string
  readonly to: string | null
  /** `unlisted`: it was used once and is in the table no more. */
  readonly mode: 'serve' | 'deprecated' | 'gone' | 'unlisted'
  readonly deprecatedSince: string | null
  readonly sunset: string | null
  /** Its sunset has come and it still works. */
  readonly due: boolean
  readonly count: number
  readonly lastSeen: string | null
  /** The latest user first. */
  readonly users: readonly ReportedUser[]
}

/** Who still uses which old name. Plain JSON. */
export interface AliasReport {
  readonly at: string
  readonly aliases: readonly ReportedAlias[]
}

const PAGE_ROWS = 1000
const date = (at: EpochMs | undefined): string | null =>
  at === undefined ? null : new Date(at).toISOString()

async function everyRow(storage: AliasUsageStorage): Promise<Map<string, AliasUsage[]>> {
  const byAlias = new Map<string, AliasUsage[]>()
  let last: AliasUsage | undefined
  for (;;) {
    const page = await storage.page(last, PAGE_ROWS)
    for (const row of page) byAlias.set(row.alias, [...(byAlias.get(row.alias) ?? []), row])
    if (page.length < PAGE_ROWS) return byAlias
    last = page.at(-1)
  }
}

function reported(
  alias: Alias | undefined,
  id: string,
  usage: readonly AliasUsage[],
  now: EpochMs,
): ReportedAlias {
  const dates = alias && isDeprecated(alias.mode) ? alias.mode : undefined
  const users = [...usage].sort((one, other) => other.lastSeen - one.lastSeen)
  const mode = alias === undefined ? 'unlisted' : isDeprecated(alias.mode) ? 'deprecated' : alias.mode
  return {
    ...{ id, from: alias?.from ?? id, to: alias?.to ?? null, mode },
    deprecatedSince: date(dates?.deprecatedSince),
    sunset: date(dates?.sunset),
    due: dates?.sunset !== undefined && dates.sunset <= now,
    count: usage.reduce((sum, { count }) => sum + count, 0),
    lastSeen: date(users[0]?.lastSeen),
    users: users.map(({ principal, count, firstSeen, lastSeen }) => ({
      ...{ principal, count },
      firstSeen: new Date(firstSeen).toISOString(),
      lastSeen: new Date(lastSeen).toISOString(),
    })),
  }
}

/**
 * Reports who still uses which old name: every row of the table, used or not, then what was used and is listed
 * no more. Counts of running processes lag by their `flushMs`. Answer fields and schemes are told to nobody in
 * particular, so they have no users. Faults of the store.
 */
export async function aliasReport(
  storage: AliasUsageStorage,
  table: AliasTable,
  now: EpochMs,
): Promise<AliasReport> {
  const usage = await everyRow(storage)
  const listed = listAliases(table)
  const ids = new Set(listed.map(({ id }) => id))
  const unlisted = [...usage.keys()].filter(id => !ids.has(id))
  return {
    at: new Date(now).toISOString(),
    aliases: [
      ...listed.map(alias => reported(alias, alias.id, usage.get(alias.id) ?? [], now)),
      ...unlisted.map(id => reported(undefined, id, usage.get(id) ?? [], now)),
    ],
  }
}

/** A text table with aligned columns; the first line is the head. */
function aligned(lines: readonly (readonly string[])[]): string {
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

/** Writes a report for a terminal: a line per old name and user, latest first. */
export function reportText({ at, aliases }: AliasReport): string {
  const day = (instant: string | null): string => (instant === null ? '-' : instant.slice(0, 10))
  const lines = aliases.flatMap(({ id, mode, due, sunset, users }) => {
    const head = [id, due ? 'past its sunset' : mode, day(sunset)]
    if (users.length === 0) return [[...head, '-', '0', '-', '-']]
    return users.map(({ principal, count, firstSeen, lastSeen }) => [
      ...[...head, principal, String(count), day(firstSeen), day(lastSeen)],
    ])
  })
  const head = ['old name', 'mode', 'sunset', 'used by', 'calls', 'first', 'last']
  return `Old names and who uses them, ${at}\n\n${aligned([head, ...lines])}\n`
}
