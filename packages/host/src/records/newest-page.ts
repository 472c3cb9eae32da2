import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries, type SqlRow, type SqlValue } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import type { HostTable } from './table.ts'

/** The place of a row in a list that is ordered by the time of creation, newest first. `position` orders rows of one millisecond. */
export interface Place {
  readonly at: EpochMs
  readonly position: number
}

/** Which rows of such a list a page has. */
export interface NewestPage {
  /** Only rows after this place in the list, which are older. Undefined: from the start. */
  readonly after?: Place | undefined
  /** Only rows that were created at this time or later. */
  readonly from?: EpochMs | undefined
  /** Only rows that were created before this time. */
  readonly to?: EpochMs | undefined
  readonly limit: number
}

/** Columns and the value that each must have. Names of columns become part of the SQL text: pass constants. */
type EqualColumns = Readonly<Record<string, SqlValue>>

/** Which rows a page has besides. */
export interface RowFilter {
  /**
   * A row must have the values of one of these. Each needs an index on the account and these columns that finds few rows, or that ends
   * with `created_at` and `position`. None: every row of the account, by an index on the account, `created_at` and `position`.
   */
  readonly oneOf?: readonly EqualColumns[]
  /** Columns of which a row must also have one of the listed values, at most 8 each. Rows are read and left out by it: see `MAX_SCANNED`. */
  readonly also?: Readonly<Record<string, readonly SqlValue[]>>
}

/** Which rows of which account a page has. */
export interface NewestRows<R> extends NewestPage {
  readonly accountId: string
  readonly filter: RowFilter
  /** What a row must match besides: a search. It costs more than a filter: see `searchPage`. */
  readonly matches?: ((row: R) => boolean) | undefined
}

/** How many rows a page with `also`, or of a search, reads at most. Such a page can be short, or empty, before the last one. */
export const MAX_SCANNED = 500

/** The most values of a column in `also`. A list is filled up to it, so that every list has the same SQL text. */
const MAX_VALUES = 8

/**
 * Reads a page of an account's rows, newest first, and the place after which the next page begins; undefined on the last page. The cost
 * of a page depends neither on its place nor on how many rows the account has. The table needs the columns `account_id`, `created_at`
 * and `position`.
 */
export async function readNewest<R extends { readonly createdAt: EpochMs; readonly position: number }>(
  db: SqlQueries,
  table: Pick<HostTable<R, never>, 'name' | 'columns' | 'read'>,
  { accountId, filter, matches, ...page }: NewestRows<R>,
): Promise<{ readonly rows: readonly R[]; readonly next: Place | undefined }> {
  if (matches)
    return searchPage({
      limit: page.limit,
      read: limit => readNewest(db, table, { ...page, accountId, filter, limit }),
      placeOf: ({ createdAt, position }) => ({ at: createdAt, position }),
      matches,
    })
  const { text, values } = queryOf(table, accountId, page, filter)
  const read = await rows(db, text, values)
  const found = read.filter(row => row['position'] !== null)
  const last = found[page.limit - 1]
  const next = found.length > page.limit && last ? placeOf(last) : endOfScan(read[0])
  return { rows: found.slice(0, page.limit).map(table.read), next }
}

/** What a search in a list works with. `P`: a place in the list. */
interface Search<R, P> {
  /** How many rows a page has at most. */
  readonly limit: number
  /** Reads rows of the list in their order, `limit` at most, and the place after them; undefined if there are no more. */
  read(limit: number): Promise<{ readonly rows: readonly R[]; readonly next: P | undefined }>
  placeOf(row: R): P
  matches(row: R): boolean
}

/**
 * Reads a page of the rows that match, in the order of the list. It reads `MAX_SCANNED` rows of the list at most, so a page can be short, or
 * empty, before the last one. The test is done here and not by the database: every database finds the same.
 */
export async function searchPage<R, P>({
  limit,
  read,
  placeOf: place,
  matches,
}: Search<R, P>): Promise<{ readonly rows: readonly R[]; readonly next: P | undefined }> {
  const { rows: tested, next } = await read(MAX_SCANNED)
  const found = tested.filter(matches)
  const last = found[limit - 1]
  return { rows: found.slice(0, limit), next: found.length > limit && last ? place(last) : next }
}

const placeOf = (row: SqlRow): Place => ({
  at: toInteger(row['created_at']),
  position: toInteger(row['position']),
})

/** The last row that was read and tested, if there can be more rows after it. */
function endOfScan(row: SqlRow | undefined): Place | undefined {
  const scanned = row?.['scanned']
  if (scanned === undefined || scanned === null || toInteger(scanned) < MAX_SCANNED) return undefined
  return { at: toInteger(row?.['end_at']), position: toInteger(row?.['end_position']) }
}

const NEWEST = 'order by created_at desc, position desc'

function queryOf(
  { name, columns: selected }: Pick<HostTable<unknown, never>, 'name' | 'columns'>,
  accountId: string,
  { after, from = 0, to = Number.MAX_SAFE_INTEGER, limit }: NewestPage,
  { oneOf = [], also }: RowFilter,
): { readonly text: string; readonly values: readonly SqlValue[] } {
  const start = after === undefined || after.at >= to ? { at: to, position: 0 } : after
  const most = also ? MAX_SCANNED : limit + 1
  const values: SqlValue[] = [accountId, start.at, start.position, from, most]
  const equal = (columns: EqualColumns): string =>
    Object.entries(columns)
      .map(([column, value]) => ` and ${column} = $${values.push(value)}`)
      .join('')
  const scans = (oneOf.length === 0 ? [{}] : oneOf).map(
    columns => `select ${selected} from ${name} where account_id = $1 and (created_at, position) < ($2, $3)
      and created_at >= $4${equal(columns)} ${NEWEST} limit $5`,
  )
  const [only = ''] = scans
  const parts = scans.map((scan, index) => `select * from (${scan}) part_${index}`)
  const all = scans.length === 1 ? only : `${parts.join(' union all ')} ${NEWEST} limit $5`
  if (!also) return { text: all, values }
  const conditions = Object.entries(also).map(([column, listed]) => {
    const filled = Array.from({ length: MAX_VALUES }, (_, index) => listed[index] ?? (listed[0] as SqlValue))
    return `${column} in (${filled.map(value => `$${values.push(value)}`).join(', ')})`
  })
  const text = `with tested as (${all}),
    ending as (select count(*) as scanned, min(created_at) as end_at from tested)
    select found.*, ending.scanned, ending.end_at,
      (select min(position) from tested where created_at = ending.end_at) as end_position
    from ending left join (select * from tested where ${conditions.join(' and ')} ${NEWEST}
      limit $${values.push(limit + 1)}) found on true ${NEWEST}`
  return { text, values }
}
