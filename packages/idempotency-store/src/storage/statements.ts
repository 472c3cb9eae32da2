import { randomUUID } from 'node:crypto'
import { GRACE_MS, malformedReply, type EpochMs, type OptionNames } from '@gatewright/kernel'
import {
  checkedPrefix,
  DEFAULT_PREFIX,
  rows,
  toInteger,
  toText,
  type SqlQueries,
  type SqlRow,
} from '@gatewright/kernel/sql'
import type { Begun, Ending, IdempotencyStorage } from './port.ts'

/** Options of the SQL adapters. */
export interface SqlStorageOptions {
  /** Prefix of the table, as given to `migrate`. Default `gw_`. */
  readonly prefix?: string
}

/** Their names. */
export const SQL_OPTIONS: OptionNames<SqlStorageOptions> = { prefix: true }

/** What a begin sends. */
export type BeginValues = readonly [
  digest: string,
  fingerprint: string,
  owner: string,
  until: EpochMs,
  now: EpochMs,
]

/** What an ending sends. */
export type EndValues = readonly [
  digest: string,
  fence: number,
  state: string,
  answer: string | null,
  until: EpochMs,
]

/** A store's own way to run the verbs over its table. */
export interface SqlVerbs {
  /** Runs a begin: the row that it met or made. Safe to repeat with the same `owner`. */
  readonly begin: (values: BeginValues) => Promise<readonly SqlRow[]>
  /** Runs an ending: a row with `won` 1 when it holds, else none. */
  readonly end: (values: EndValues) => Promise<readonly SqlRow[]>
  /** Deletes ended records: a row for each. */
  readonly collect: (endedAt: EpochMs, limit: number) => Promise<readonly SqlRow[]>
}

/** The table of a prefix. */
export function tableName(options: SqlStorageOptions): string {
  return `${checkedPrefix(options.prefix ?? DEFAULT_PREFIX)}idempotency`
}

/** The columns a begin answers with. */
export const COLUMNS = 'fingerprint, owner, fence, state, until, answer'

/** True for a record that a begin of this `now` may take over. */
export const takeable = (now: string): string =>
  `(held.state = 'free' or (held.state = 'done' and held.until <= ${now}))`

/** In the INSERT of a begin the new fence is its now. */
const TAKEABLE = takeable('excluded.fence')

const take = (column: string): string =>
  `${column} = case when ${TAKEABLE} then excluded.${column} else held.${column} end`

/**
 * The tail of the begin's INSERT: it locks the row, takes it over where that is allowed, and returns it in any
 * case. Whether the caller won shows in `owner`: without it, two begins with equal arguments would both read
 * their own values back. A guarded `do update ... where` would return no row to the loser of a race.
 */
export const TAKE_OR_RETURN: string = `on conflict (digest) do update set
  fence = case when not ${TAKEABLE} then held.fence
    when held.fence >= excluded.fence then held.fence + 1 else excluded.fence end,
  ${['fingerprint', 'owner', 'state', 'until', 'answer'].map(take).join(', ')}
  returning ${COLUMNS}`

/** Own is only what still runs: a begin that is repeated may find that somebody has decided about its run. */
function readBegun(row: SqlRow, fingerprint: string, owner: string, now: EpochMs): Begun {
  if (toText(row['owner']) === owner && row['state'] === 'running') {
    return { state: 'started', fence: toInteger(row['fence']) }
  }
  return readHeld(row, fingerprint, now)
}

/** What a record says to a begin that does not get it. */
export function readHeld(row: SqlRow, fingerprint: string, now: EpochMs): Begun {
  const state = row['state']
  const fence = toInteger(row['fence'])
  if (toText(row['fingerprint']) !== fingerprint) return { state: 'reused' }
  const until = toInteger(row['until'])
  if (state === 'done') return { state, answer: toText(row['answer']), expiresAt: until }
  if (state !== 'running') throw malformedReply('database', 'a state')
  return now < until ? { state } : { state: 'lost', fence }
}

/** What an ending writes. */
export const endValues = (ending: Ending): [state: string, answer: string | null, until: EpochMs] => {
  if (ending.state === 'lost') return ['running', null, 0]
  return [ending.state, ending.state === 'done' ? ending.answer : null, ending.expiresAt]
}

/** The verbs by a statement each, given the store's own way to begin. `lock` ends the choice of what to collect. */
export function sqlVerbs(db: SqlQueries, table: string, begin: SqlVerbs['begin'], lock = ''): SqlVerbs {
  const end = `update ${table} set state = $3,
    answer = case when state = 'running' then $4 else answer end,
    until = case when state = 'running' then $5 else until end
    where digest = $1 and fence = $2
      and (state = 'running' or (state = $3 and coalesce(answer, '') = coalesce($4, '')))
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

/** The record, given its verbs. */
export function sqlStorage(verbs: SqlVerbs): IdempotencyStorage {
  return {
    async begin(key, fingerprint, leaseUntil, now) {
      const owner = randomUUID()
      const [row] = await verbs.begin([key, fingerprint, owner, leaseUntil, now])
      if (!row) throw malformedReply('database', 'a row')
      return readBegun(row, fingerprint, owner, now)
    },
    async end(key, fence, ending) {
      const [won, ...rest] = await verbs.end([key, fence, ...endValues(ending)])
      if (rest.length > 0 || (won && won['won'] !== 1)) throw malformedReply('database', 'one row or none')
      return won !== undefined
    },
    collect: async (limit, now) => (await verbs.collect(now - GRACE_MS, limit)).length,
  }
}
