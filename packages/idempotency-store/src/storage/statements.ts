import { randomUUID } from 'node:crypto'
import { GRACE_MS, malformedReply, type EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries, type SqlRow } from '@gatewright/kernel/sql'
import { checkedPrefix, DEFAULT_PREFIX, takesDue, toInteger, toText } from '@gatewright/kernel/internal/sql'
import type { Ending, IdempotencyStorage, LostRunPage, NotStarted, RunRecord } from './port.ts'

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
    values: readonly [
      ...record: KeyColumns,
      fingerprint: string,
      owner: string,
      until: EpochMs,
      now: EpochMs,
      operation: string,
      account: string,
    ],
  ) => Promise<readonly SqlRow[]>
  /** Ends a run. Returns one row with `won` 1 if the run has this ending, otherwise none. */
  readonly end: (values: EndValues) => Promise<readonly SqlRow[]>
  /** Extends the lease of a run. Returns one row with `won` 1 if it is running, otherwise none. */
  readonly extend: (values: LeaseValues) => Promise<readonly SqlRow[]>
  /** Takes a lost run over. Returns one row with its new fence if it was lost, otherwise none. */
  readonly takeOver: (values: LeaseValues) => Promise<readonly SqlRow[]>
  /** Reads the record of a key. */
  readonly find: (record: KeyColumns) => Promise<readonly SqlRow[]>
  /** Reads a page of lost runs. */
  readonly listLost: (page: LostRunPage) => Promise<readonly SqlRow[]>
  /** Deletes expired records. Returns a row for each. */
  readonly collect: (endedAt: EpochMs, limit: number) => Promise<readonly SqlRow[]>
}

/** The columns that identify a record. */
export type KeyColumns = readonly [digest: string, accountId: string]

/** The condition on a record whose key columns are the first two parameters. */
export const IS_RECORD = 'account_id = $2 and digest = $1'

/** Splits a key into its columns. Without an account, that column is empty. */
export function columnsOf(key: string): KeyColumns {
  const dot = key.indexOf('.')
  return dot === -1 ? [key, ''] : [key.slice(0, dot), key.slice(dot + 1)]
}

/** Returns the key of a row. */
export function keyOf(row: SqlRow): string {
  const accountId = toText(row['account_id'])
  return accountId === '' ? toText(row['digest']) : `${toText(row['digest'])}.${accountId}`
}

type EndValues = readonly [
  ...record: KeyColumns,
  fence: number,
  state: string,
  response: string | null,
  until: EpochMs,
  decision: string | null,
]
type LeaseValues = readonly [...record: KeyColumns, fence: number, until: EpochMs, now: EpochMs]

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
export const REPLACE_OR_RETURN: string = `on conflict (account_id, digest) do update set
  fence = case when not ${HAS_ENDED} then held.fence
    when held.fence >= excluded.fence then held.fence + 1 else excluded.fence end,
  ${['fingerprint', 'owner', 'state', 'until', 'operation', 'account', 'began', 'response'].map(replaceIfEnded).join(', ')}
  returning ${COLUMNS}`

/** Reads an existing record for a begin that did not get the key. */
function readExisting(row: SqlRow, fingerprint: string, now: EpochMs): NotStarted {
  const state = row['state']
  const fence = toInteger(row['fence'])
  if (toText(row['fingerprint']) !== fingerprint) return { state: 'reused' }
  const until = toInteger(row['until'])
  if (state === 'done') return { state, response: toText(row['response']), expiresAt: until }
  if (state !== 'running') throw malformedReply('database', 'a state')
  return now < until ? { state } : { state: 'lost', fence }
}

/** Returns the column values of an ending. */
export const endingValues = (
  ending: Ending,
): [state: string, response: string | null, until: EpochMs, decision: string | null] => {
  if (ending.state === 'lost') return ['running', null, 0, null]
  const { state, expiresAt, decision = null } = ending
  return [state, ending.state === 'done' ? ending.response : null, expiresAt, decision]
}

/** Reads the columns of a whole record. */
function toRecord(row: SqlRow): RunRecord {
  const state = toText(row['state'])
  if (state !== 'running' && state !== 'done' && state !== 'free') throw malformedReply('database', 'a state')
  return {
    key: keyOf(row),
    fingerprint: toText(row['fingerprint']),
    fence: toInteger(row['fence']),
    operation: toText(row['operation']),
    account: toText(row['account']),
    beganAt: toInteger(row['began']),
    state,
    until: toInteger(row['until']),
    decision: row['decision'] === null ? null : toText(row['decision']),
  }
}

/**
 * Makes the statements that Postgres and SQLite share, one per method, given the store's own `begin`.
 */
export function sqlStatements(db: SqlQueries, table: string, begin: SqlStatements['begin']): SqlStatements {
  const end = `update ${table} set state = $4,
    response = case when state = 'running' then $5 else response end,
    until = case when state = 'running' then $6 else until end,
    decision = case when state = 'running' then coalesce($7, decision) else decision end
    where ${IS_RECORD} and fence = $3
      and (state = 'running' or (state = $4 and coalesce(response, '') = coalesce($5, '')))
    returning 1 as won`
  const due = "state <> 'running' and until <= $1"
  const extend = `update ${table} set until = case when until < $4 then $4 else until end
    where ${IS_RECORD} and fence = $3 and state = 'running' and until > $5 returning 1 as won`
  // Without its owner, a repeated begin no longer takes the run for its own.
  const takeOver = `update ${table} set fence = case when fence >= $5 then fence + 1 else $5 end, until = $4, owner = ''
    where ${IS_RECORD} and fence = $3 and state = 'running' and until <= $5 returning fence`
  const record = 'account_id, digest, fingerprint, fence, operation, account, began, state, until, decision'
  const find = `select ${record} from ${table} where ${IS_RECORD}`
  const lost = (account: string): string => `select ${record} from ${table}
    where state = 'running' and until <= $1 and (began, digest, account_id) > ($2, $3, $4)${account}
    order by began, digest, account_id limit $5`
  const [listLost, listLostOf] = [lost(''), lost(' and account = $6')]
  return {
    begin,
    end: values => rows(db, end, values),
    extend: values => rows(db, extend, values),
    takeOver: values => rows(db, takeOver, values),
    find: record => rows(db, find, record),
    listLost({ limit, now, account, after = { beganAt: -1, key: '' } }) {
      const values = [now, after.beganAt, ...columnsOf(after.key), limit]
      return account === undefined ? rows(db, listLost, values) : rows(db, listLostOf, [...values, account])
    },
    async collect(endedAt, limit) {
      const taken = await takesDue(db, { table, key: 'account_id, digest', due, order: 'until', limit: '$2' })
      return rows(db, `delete from ${table} where ${taken} returning 1 as gone`, [endedAt, limit])
    },
  }
}

/** Makes the storage from its statements. */
export function sqlStorage(statements: SqlStatements): IdempotencyStorage {
  return {
    async begin(key, fingerprint, leaseUntil, now, { operation, account } = { operation: '', account: '' }) {
      const owner = randomUUID()
      const [row] = await statements.begin([
        ...columnsOf(key),
        fingerprint,
        owner,
        leaseUntil,
        now,
        operation,
        account,
      ])
      if (!row) throw malformedReply('database', 'a row')
      // A repeated begin finds its own row, but another caller may have ended its run meanwhile.
      if (toText(row['owner']) === owner && row['state'] === 'running') {
        return { state: 'started', fence: toInteger(row['fence']) }
      }
      return readExisting(row, fingerprint, now)
    },
    end: async (key, fence, ending) =>
      hasWon(await statements.end([...columnsOf(key), fence, ...endingValues(ending)])),
    extend: async (key, fence, leaseUntil, now) =>
      hasWon(await statements.extend([...columnsOf(key), fence, leaseUntil, now])),
    async takeOver(key, fence, leaseUntil, now) {
      const row = oneOrNone(await statements.takeOver([...columnsOf(key), fence, leaseUntil, now]))
      return row && toInteger(row['fence'])
    },
    async find(key) {
      const row = oneOrNone(await statements.find(columnsOf(key)))
      return row && toRecord(row)
    },
    listLost: async page => (await statements.listLost(page)).map(toRecord),
    collect: async (limit, now) => (await statements.collect(now - GRACE_MS, limit)).length,
  }
}

function oneOrNone([row, ...more]: readonly SqlRow[]): SqlRow | undefined {
  if (more.length > 0) throw malformedReply('database', 'one row or none')
  return row
}

function hasWon(reply: readonly SqlRow[]): boolean {
  const row = oneOrNone(reply)
  if (row && toInteger(row['won']) !== 1) throw malformedReply('database', 'one row or none')
  return row !== undefined
}
