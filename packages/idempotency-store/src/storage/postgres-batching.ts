import { Fault, malformedReply } from '@gatewright/kernel'
import { batch } from '@gatewright/kernel/internal'
import { rows, type SqlClient, type SqlRow } from '@gatewright/kernel/sql'
import { assertOutsideTransactionScope } from '@gatewright/kernel/internal/sql'
import {
  COLUMNS,
  hasEnded,
  keyOf,
  REPLACE_OR_RETURN,
  type KeyColumns,
  type SqlStatements,
} from './statements.ts'

/** Calls per statement. A statement holds its locks until all of its calls are done. */
const BATCH_SIZE = 64
/**
 * How many statements of one method may be in flight. When commits are slow, more calls share one statement, and the pool keeps
 * connections for other work.
 */
const MAX_IN_FLIGHT = 4
/** If no statement ends for this long, calls go to the pool one by one; the pool has timeouts of its own. */
const STALLED_MS = 1000
/** Longer responses are sent in statements of their own: sending them takes longest, and a batch of them would block a connection. */
const LONGEST_BATCHED = 16_384

/**
 * Begins runs of different keys in one statement, each like the statement of one call. Rows are written in the order of
 * their digests, so that the statements of several hosts cannot deadlock.
 */
const beginStatement = (table: string): string => `with
  calls as (select * from unnest(cast($1 as text[]), cast($2 as text[]), cast($3 as text[]), cast($4 as text[]),
    cast($5 as bigint[]), cast($6 as bigint[]), cast($7 as text[]), cast($8 as text[]))
    as calls (digest, account_id, fingerprint, owner, until, now, operation, account)),
  found as (select held.* from calls cross join lateral
    (select ${COLUMNS}, digest, account_id from ${table} as held
      where held.account_id = calls.account_id and held.digest = calls.digest and not ${hasEnded('calls.now')} limit 1) as held),
  begun as (insert into ${table} as held
    (digest, account_id, fingerprint, owner, fence, state, until, operation, account, began)
    select digest, account_id, fingerprint, owner, now, 'running', until, operation, account, now from calls
    where (digest, account_id) not in (select digest, account_id from found) order by digest collate "C"
    ${REPLACE_OR_RETURN}, digest, account_id)
  select * from begun union all select * from found`

/**
 * Ends runs of different keys in one statement. The rows are locked first, in the order of their digests. `limit 1` makes
 * the planner look up each key in the index, also when it believes that the table is small.
 */
const endStatement = (table: string): string => `with
  calls as (select * from unnest(cast($1 as text[]), cast($2 as text[]), cast($3 as bigint[]), cast($4 as text[]),
    cast($5 as text[]), cast($6 as bigint[]), cast($7 as text[]))
    as calls (digest, account_id, fence, state, response, until, decision)
    order by digest collate "C"),
  locked as (select calls.* from calls cross join lateral
    (select fence, state, response from ${table} as held
      where held.account_id = calls.account_id and held.digest = calls.digest limit 1 for no key update) as held
    where held.fence = calls.fence
      and (held.state = 'running' or (held.state = calls.state
        and coalesce(held.response, '') = coalesce(calls.response, ''))))
  update ${table} as held set state = locked.state,
    response = case when held.state = 'running' then locked.response else held.response end,
    until = case when held.state = 'running' then locked.until else held.until end,
    decision = case when held.state = 'running' then coalesce(locked.decision, held.decision) else held.decision end
    from locked where held.account_id = locked.account_id and held.digest = locked.digest
    returning held.digest, held.account_id, 1 as won`

/** The values of one call, its key first. */
type Values = readonly [...record: KeyColumns, ...rest: (string | number | null)[]]
type Send<Call> = (call: Call) => Promise<readonly SqlRow[]>

/** Makes statements that several begins share, and statements that several endings share. */
export function batchedStatements(db: SqlClient, table: string, single: SqlStatements): SqlStatements {
  const begin = batched(db, beginStatement(table), single.begin)
  const end = batched(db, endStatement(table), single.end)
  // The scope is checked here, because a shared statement may be sent in the async context of another call.
  return {
    ...single,
    begin(values) {
      assertOutsideTransactionScope(db)
      return begin(values)
    },
    end(values) {
      assertOutsideTransactionScope(db)
      return (values[4]?.length ?? 0) > LONGEST_BATCHED ? single.end(values) : end(values)
    },
  }
}

/**
 * Lets the calls of a method share a statement. A statement has one call per key, because it can write a row only once; the
 * other calls of the key are sent after it, one by one. If the server rejects the statement, all its calls are sent one by one,
 * so that only the bad one fails. A server that does not support the statement, such as Citus, gets no other one that is shared.
 */
function batched<Call extends Values>(db: SqlClient, text: string, sendSingle: Send<Call>): Send<Call> {
  let isSupported = true
  const sendBatch = async (
    calls: readonly Call[],
  ): Promise<readonly (readonly SqlRow[] | ReturnType<Send<Call>>)[]> => {
    const firstOfKey = new Map<string, Call>()
    for (const call of calls) if (!firstOfKey.has(recordOf(call))) firstOfKey.set(recordOf(call), call)
    let found: Map<string, SqlRow>
    try {
      found = byRecord(await rows(db, text, arrayLiterals([...firstOfKey.values()])), firstOfKey)
    } catch (error) {
      const state = serverError(error)
      if (state === undefined) throw error
      if (state === NOT_SUPPORTED) isSupported = false
      return calls.map(sendSingle)
    }
    return calls.map(call => {
      if (firstOfKey.get(recordOf(call)) !== call) return sendSingle(call)
      const row = found.get(recordOf(call))
      return row ? [row] : []
    })
  }
  const limits = { maxInFlight: MAX_IN_FLIGHT, stalledMs: STALLED_MS }
  const shared = batch(BATCH_SIZE, { sendSingle, sendBatch }, limits)
  return call => (isSupported ? shared(call) : sendSingle(call))
}

/** Returns what identifies the record of a call among those of a batch. */
const recordOf = ([digest, accountId]: Values): string =>
  accountId === '' ? digest : `${digest}.${accountId}`

/** Turns calls into one array literal per parameter. */
const arrayLiterals = (calls: readonly Values[]): string[] =>
  (calls[0] ?? []).map((_, column) => `{${calls.map(values => element(values[column])).join()}}`)

const element = (value: string | number | null | undefined): string =>
  typeof value === 'string' ? `"${value.replace(/["\\]/g, '\\$&')}"` : String(value)

/** Indexes the rows of a reply by key. Fault: `ERR_STORE_REPLY` for an unknown or repeated key. */
function byRecord(found: readonly SqlRow[], calls: ReadonlyMap<string, unknown>): Map<string, SqlRow> {
  const index = new Map(found.map(row => [keyOf(row), row]))
  const areKnown = [...index.keys()].every(key => calls.has(key))
  if (!areKnown || index.size !== found.length) throw malformedReply('database', 'one row for each key')
  return index
}

/** SQLSTATE `feature_not_supported`. */
const NOT_SUPPORTED = '0A000'

/**
 * The SQLSTATE of an error with which the server itself rejected a statement, not a code of Node (they begin with E) or of a
 * broken connection (class 08). One of the calls may have caused it, and none has taken effect or still will. A server that
 * reports a shutdown after its commit is harmless too, because a repeated begin recognises its row by the owner.
 */
function serverError(error: unknown): string | undefined {
  const code = error instanceof Fault && (error.cause as { code?: unknown } | undefined)?.code
  return typeof code === 'string' && /^(?!E|08)[0-9A-Z]{5}$/.test(code) ? code : undefined
}
