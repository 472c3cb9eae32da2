import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries, type SqlValue } from '@gatewright/kernel/sql'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'
import { deleteDue } from './delete-due.ts'
import { flag, instant, integer, json, nullable, text } from './columns.ts'
import { table, type Row } from './table.ts'

/** The requests whose decision was kept. Those without a verified credential have an empty account. */
const records = table('gw_requests', {
  id: text,
  accountId: text,
  at: instant,
  method: text,
  operation: text,
  keyId: nullable(text),
  sessionId: nullable(text),
  credential: nullable(text),
  status: integer,
  code: nullable(text),
  /** The policy rule that blocked. */
  rule: nullable(text),
  /** The exact cause, which is not part of the response. */
  reason: nullable(text),
  message: nullable(text),
  field: nullable(text),
  /** The facts of a denial that its response contained. */
  details: nullable(json<Readonly<Record<string, unknown>>>()),
  replayed: flag,
  /** Whether it was a call of a tool, or another message of the Model Context Protocol. */
  byTool: flag,
  durationUs: integer,
  /** Whether the key is that of an account console: a person, and no program. Recorded of reads only. */
  console: flag,
})

/** A request whose decision was kept. */
export type RecordedRequest = Row<typeof records>

/** The account of requests without a verified credential. */
export const NO_ACCOUNT = ''

/** The methods of reads. */
export const READ_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS']

/** What a person looked up in a console. Lists leave it out and no count has it: no program was refused. A failure of the host stays. */
const OWN_LOOK_UP = `console = 1 and status < 500`

/** The outcomes by which a list of requests can be filtered, with their statuses. */
const STATUSES = {
  allowed: 'status < 400',
  refused: 'status >= 400 and status < 500 and status <> 429',
  limited: 'status = 429',
  failed: 'status >= 500',
} as const
/** An outcome by which a list of requests can be filtered. */
export type RequestOutcome = keyof typeof STATUSES
export const REQUEST_OUTCOMES: readonly RequestOutcome[] = ['allowed', 'refused', 'limited', 'failed']

/** How many requests a search among the newest ones reads at most. */
export const NEWEST_SEARCHED = 5000

/** Which requests a list shows. Newest first, those of one instant by descending id. */
export interface RequestFilter {
  readonly limit: number
  /** Only requests of this account. Undefined: of all accounts. */
  readonly accountId?: string | undefined
  /** Only those of these keys; null: only those without a key. */
  readonly keyIds?: readonly string[] | null | undefined
  readonly outcome?: RequestOutcome | undefined
  readonly operation?: string | undefined
  /** Whether what consoles looked up is left out. */
  readonly programsOnly?: boolean | undefined
  /** Only those that this policy rule blocked; null: only those without a rule. */
  readonly rule?: string | null | undefined
  readonly code?: string | undefined
  /** Only those among the `NEWEST_SEARCHED` newest ones of all accounts, so that a search without matches reads no more. */
  readonly newestOnly?: boolean | undefined
  /** Only those of this time or later. */
  readonly from?: EpochMs | undefined
  /** Only those before this time. */
  readonly to?: EpochMs | undefined
  /** Only those after this place in the list. Without an id: only those before this instant. */
  readonly after?: { readonly at: EpochMs; readonly id?: string } | undefined
}

/** One kind of refusal, and how often it happened. */
export interface RefusalCount {
  readonly accountId: string
  readonly keyId: string | null
  readonly operation: string
  readonly code: string
  readonly rule: string | null
  readonly count: number
  readonly lastAt: EpochMs
}

/** Inserts rows, except those that are stored already. */
export async function insertRequests(tx: SqlQueries, all: readonly RecordedRequest[]): Promise<void> {
  const values: SqlValue[] = []
  const tuples = all.map(row => {
    const first = values.length + 1
    values.push(...valuesOf(row))
    return `(${Array.from({ length: values.length - first + 1 }, (_, n) => `$${first + n}`).join(', ')})`
  })
  const statement = `insert into gw_requests (${COLUMNS.join(', ')}) values ${tuples.join(', ')} on conflict do nothing`
  await rows(tx, statement, values)
}

const COLUMNS = [
  'account_id',
  'id',
  'at',
  'method',
  'operation',
  'key_id',
  'session_id',
  'credential',
  'status',
  'code',
  'rule',
  'reason',
  'message',
  'field',
  'details',
  'replayed',
  'by_tool',
  'duration_us',
  'console',
]

const valuesOf = (row: RecordedRequest): SqlValue[] => [
  row.accountId,
  row.id,
  row.at,
  row.method,
  row.operation,
  row.keyId,
  row.sessionId,
  row.credential,
  row.status,
  row.code,
  row.rule,
  row.reason,
  row.message,
  row.field,
  row.details === null ? null : JSON.stringify(row.details),
  Number(row.replayed),
  Number(row.byTool),
  row.durationUs,
  Number(row.console),
]

/** Reads and deletes kept requests. */
export const requests = {
  /** Lists requests, newest first. */
  list(db: SqlQueries, filter: RequestFilter): Promise<RecordedRequest[]> {
    const values: SqlValue[] = []
    const place = (value: SqlValue): string => `$${values.push(value)}`
    const conditions = conditionsOf(filter, place)
    const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
    return records.select(db, `${where} order by at desc, id desc limit ${place(filter.limit)}`, values)
  },
  /** Finds a request of an account. */
  find: (db: SqlQueries, accountId: string, id: string): Promise<RecordedRequest | undefined> =>
    records.find(db, accountId, id),
  /** Finds a request of any account. */
  async findAnywhere(db: SqlQueries, id: string): Promise<RecordedRequest | undefined> {
    return (await records.select(db, 'where id = $1', [id]))[0]
  },
  /** Finds requests of any account whose id begins with a text of letters and digits: two at most. */
  findByStart: (db: SqlQueries, start: string): Promise<RecordedRequest[]> =>
    records.select(db, 'where id >= $1 and id < $2 order by id limit 2', [start, `${start}~`]),
  /**
   * Counts the refusals since an instant by account, key, operation, code and rule: the most frequent first. It reads the
   * `NEWEST_SEARCHED` newest requests at most.
   */
  async topRefusals(db: SqlQueries, since: EpochMs, limit: number): Promise<RefusalCount[]> {
    const text = `select account_id, key_id, operation, code, rule, count(*) as n, max(at) as last_at
      from (select account_id, key_id, operation, code, rule, status, at from gw_requests
        where at >= $1 and not (${OWN_LOOK_UP}) order by at desc limit $3) newest
      where status >= 400 and status < 500
      group by account_id, key_id, operation, code, rule order by n desc, last_at desc limit $2`
    return (await rows(db, text, [since, limit, NEWEST_SEARCHED])).map(row => ({
      accountId: toText(row['account_id']),
      keyId: textOrNull(row['key_id']),
      operation: toText(row['operation']),
      code: toText(row['code'] ?? ''),
      rule: textOrNull(row['rule']),
      count: toInteger(row['n']),
      lastAt: toInteger(row['last_at']),
    }))
  },
  /** Deletes the requests of an account, except its `kept` newest ones. */
  async trim(tx: SqlQueries, accountId: string, kept: number): Promise<void> {
    const text = `delete from gw_requests where account_id = $1 and at < (select min(at) from
      (select at from gw_requests where account_id = $1 order by at desc, id desc limit $2) newest)`
    await rows(tx, text, [accountId, kept])
  },
  /** Deletes all requests of an account. */
  async erase(tx: SqlQueries, accountId: string): Promise<void> {
    await rows(tx, 'delete from gw_requests where account_id = $1', [accountId])
  },
  /** Deletes up to `limit` requests from before an instant, and resolves to their number. */
  collect(db: SqlQueries, limit: number, before: EpochMs): Promise<number> {
    return deleteDue(db, { table: 'gw_requests', key: 'account_id, at, id', at: 'at' }, limit, before)
  },
}

const textOrNull = (value: unknown): string | null => (value === null ? null : toText(value))

/** The conditions of a filter. `place` adds a value and returns its place. */
function conditionsOf(
  {
    accountId,
    keyIds,
    outcome,
    operation,
    programsOnly,
    rule,
    code,
    newestOnly,
    from,
    to,
    after,
  }: RequestFilter,
  place: (value: SqlValue) => string,
): string[] {
  const conditions: string[] = []
  if (accountId !== undefined) conditions.push(`account_id = ${place(accountId)}`)
  if (keyIds === null) conditions.push('key_id is null')
  else if (keyIds !== undefined)
    conditions.push(keyIds.length === 0 ? 'false' : `key_id in (${keyIds.map(place).join(', ')})`)
  if (outcome !== undefined) conditions.push(STATUSES[outcome])
  if (programsOnly === true) conditions.push(`not (${OWN_LOOK_UP})`)
  if (operation !== undefined) conditions.push(`operation = ${place(operation)}`)
  if (rule !== undefined) conditions.push(rule === null ? 'rule is null' : `rule = ${place(rule)}`)
  if (code !== undefined) conditions.push(`code = ${place(code)}`)
  if (from !== undefined) conditions.push(`at >= ${place(from)}`)
  if (to !== undefined) conditions.push(`at < ${place(to)}`)
  if (newestOnly === true)
    conditions.push(
      `at >= (select min(at) from (select at from gw_requests order by at desc limit ${place(NEWEST_SEARCHED)}) newest)`,
    )
  if (after === undefined) return conditions
  const at = place(after.at)
  conditions.push(
    after.id === undefined ? `at < ${at}` : `at <= ${at} and (at < ${at} or id < ${place(after.id)})`,
  )
  return conditions
}
