import { randomUUID } from 'node:crypto'
import { GRACE_MS, malformedReply, type EpochMs } from '@gatewright/kernel'
import {
  checkedPrefix,
  DEFAULT_PREFIX,
  rows,
  toInteger,
  toText,
  type SqlQueries,
  type SqlRow,
} from '@gatewright/kernel/sql'
import type { BeginResult, Ending, IdempotencyStorage } from './port.ts'

/** Options of the SQL adapters. */
export interface SqlIdempotencyOptions {
  /** Prefix of the table, as given to `migrate`. Default `gw_`. */
  readonly prefix?: string
}

/** What these options must be. */
export const SQL_OPTIONS: { readonly prefix: { readonly default: string } } = {
  prefix: { default: DEFAULT_PREFIX },
}

/** How a store runs the methods of the port as statements. */
export interface SqlStatements {
  /** Begins a run. Returns the row of the key. Safe to repeat with the same `owner`. */
  readonly begin: (
    values: readonly [digest: string, fingerprint: string, owner: string, until: EpochMs, now: EpochMs],
  ) => Promise<readonly SqlRow[]>
  /** Ends a run. Returns one row with `won` 1 if the run has this ending, otherwise none. */
  readonly end: (
    values: readonly [digest: string, fence: number, state: string, response: string | null, until: EpochMs],
  ) => Promise<readonly SqlRow[]>
  /** Deletes expired records. Returns a row for each. */
  readonly collect: (endedAt: EpochMs, limit: number) => Promise<readonly SqlRow[]>
}

/** Returns the table of a prefix. */
export function tableName(prefix: string): string {
  return `${checkedPrefix(prefix)}idempotency`
}

/** The columns that a begin returns. */
export const COLUMNS = 'fingerprint, owner, fence, state, until, response'

/** The condition that the record `held` has ended, so that a run that begins at `now` may replace it. */
export const hasEnded = (now: string): string =>
  `(held.state = 'free' or (held.state = 'done' and held.until <= ${now}))`

/** The condition in the INSERT of a begin, whose new fence is `now`. */
const HAS_ENDED = hasEnded('excluded.fence')

const replaceIfEnded = (column: string): string =>
  `${column} = case when ${HAS_ENDED} then excluded.${column} else held.${column} end`

/**
 * The end of the INSERT of a begin. It locks the existing row, replaces it if it has ended, and returns it in any case.
 * The column `owner` says whether the caller's run is in the row: without it, two begins with equal arguments would both
 * read their own values back. (`do update ... where` would return no row to the loser of a race.)
 */
export const REPLACE_OR_RETURN: string = `on conflict (digest) do update set
  fence = case when not ${HAS_ENDED} then held.fence
    when held.fence >= excluded.fence then held.fence + 1 else excluded.fence end,
  ${['fingerprint', 'owner', 'state', 'until', 'response'].map(replaceIfEnded).join(', ')}
  returning ${COLUMNS}`

/** Reads an existing record for a begin that did not get the key. */
export function readExisting(row: SqlRow, fingerprint: string, now: EpochMs): BeginResult {
  const state = row['state']
  const fence = toInteger(row['fence'])
  if (toText(row['fingerprint']) !== fingerprint) return { state: 'reused' }
  const until = toInteger(row['until'])
  if (state === 'done') return { state, response: toText(row['response']), expiresAt: until }
  if (state !== 'running') throw malformedReply('database', 'a state')
  return now < until ? { state } : { state: 'lost', fence }
}

/** Returns the column values of an ending. */
export const endingValues = (ending: Ending): [state: string, response: string | null, until: EpochMs] => {
  if (ending.state === 'lost') return ['running', null, 0]
  return [ending.state, ending.state === 'done' ? ending.response : null, ending.expiresAt]
}

/**
 * Makes the statements that Postgres and SQLite share, one per method, given the store's own `begin`. `lock` is added to
 * the subquery that selects the records to delete.
 */
export function sqlStatements(
  db: SqlQueries,
  table: string,
  begin: SqlStatements['begin'],
  lock = '',
): SqlStatements {
  const end = `update ${table} set state = $3,
    response = case when state = 'running' then $4 else response end,
    until = case when state = 'running' then $5 else until end
    where digest = $1 and fence = $2
      and (state = 'running' or (state = $3 and coalesce(response, '') = coalesce($4, '')))
    returning 1 as won`
  const collect = `with
    ended as (select digest from ${table} where state <> 'running' and until <= $1 order by until limit $2 ${lock})
    delete from ${table} where digest in (select digest from ended) returning 1 as gone`
  return {
    begin,
    end: values => rows(db, end, values),
    collect: (endedAt, limit) => rows(db, collect, [endedAt, limit]),
  }
}

/** Makes the storage from its statements. */
export function sqlStorage(statements: SqlStatements): IdempotencyStorage {
  return {
    async begin(key, fingerprint, leaseUntil, now) {
      const owner = randomUUID()
      const [row] = await statements.begin([key, fingerprint, owner, leaseUntil, now])
      if (!row) throw malformedReply('database', 'a row')
      // A repeated begin finds its own row, but another caller may have ended its run meanwhile.
      if (toText(row['owner']) === owner && row['state'] === 'running') {
        return { state: 'started', fence: toInteger(row['fence']) }
      }
      return readExisting(row, fingerprint, now)
    },
    async end(key, fence, ending) {
      const [won, ...rest] = await statements.end([key, fence, ...endingValues(ending)])
      if (rest.length > 0 || (won && won['won'] !== 1)) throw malformedReply('database', 'one row or none')
      return won !== undefined
    },
    collect: async (limit, now) => (await statements.collect(now - GRACE_MS, limit)).length,
  }
}
