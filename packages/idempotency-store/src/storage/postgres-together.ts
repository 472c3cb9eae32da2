import { Fault, malformedReply } from '@gatewright/kernel'
import {
  assertOutsideTransactionScope,
  rows,
  toText,
  type SqlClient,
  type SqlRow,
} from '@gatewright/kernel/sql'
import { gather } from './gather.ts'
import { COLUMNS, takeable, TAKE_OR_RETURN, type SqlVerbs } from './statements.ts'

/** Most calls in one statement: its locks are held until all of them are done. */
const MOST_TOGETHER = 64
/** Most statements of a verb under way: with slow commits more calls share one, and the pool keeps room for others. */
const MOST_AT_ONCE = 4
/** Where no statement ends for so long, calls go to the pool one by one, which has timeouts of its own. */
const STALLED_MS = 1000
/** Of a longer answer the sending is the cost, and many of them would hold a connection up. */
const LONGEST_TOGETHER = 16_384

/**
 * Many begins in one statement, each of another key: the same steps as one alone takes. Rows are written in the
 * order of their digests, so that statements of several hosts wait for each other in one direction only.
 */
const beginStatement = (table: string): string => `with
  asked as (select * from unnest(cast($1 as text[]), cast($2 as text[]), cast($3 as text[]),
    cast($4 as bigint[]), cast($5 as bigint[])) as asked (digest, fingerprint, owner, until, now)),
  found as (select held.* from asked cross join lateral
    (select ${COLUMNS}, digest from ${table} as held
      where held.digest = asked.digest and not ${takeable('asked.now')} limit 1) as held),
  begun as (insert into ${table} as held (digest, fingerprint, owner, fence, state, until)
    select digest, fingerprint, owner, now, 'running', until from asked
    where digest not in (select digest from found) order by digest collate "C" ${TAKE_OR_RETURN}, digest)
  select * from begun union all select * from found`

/**
 * Many endings in one statement, each of another key. The rows are locked first, in the order of their digests.
 * `limit 1` keeps the planner at one look into the index for each, however few rows it believes there are.
 */
const endStatement = (table: string): string => `with
  asked as (select * from unnest(cast($1 as text[]), cast($2 as bigint[]), cast($3 as text[]),
    cast($4 as text[]), cast($5 as bigint[])) as asked (digest, fence, state, answer, until)
    order by digest collate "C"),
  locked as (select asked.* from asked cross join lateral
    (select fence, state, answer from ${table} as held
      where held.digest = asked.digest limit 1 for no key update) as held
    where held.fence = asked.fence
      and (held.state = 'running' or (held.state = asked.state
        and coalesce(held.answer, '') = coalesce(asked.answer, ''))))
  update ${table} as held set state = locked.state,
    answer = case when held.state = 'running' then locked.answer else held.answer end,
    until = case when held.state = 'running' then locked.until else held.until end
    from locked where held.digest = locked.digest
    returning held.digest, 1 as won`

type Values = readonly [digest: string, ...rest: (string | number | null)[]]
type Run<Call> = (call: Call) => Promise<readonly SqlRow[]>

const element = (value: string | number | null | undefined): string =>
  typeof value === 'string' ? `"${value.replace(/["\\]/g, '\\$&')}"` : String(value)

/** The columns of many calls, each as the text of an array. */
const columns = (calls: readonly Values[]): string[] =>
  (calls[0] ?? []).map((_, column) => `{${calls.map(values => element(values[column])).join()}}`)

/** The rows of a reply by their digests: each was asked for, and comes once. */
function byDigest(found: readonly SqlRow[], asked: ReadonlyMap<string, unknown>): Map<string, SqlRow> {
  const byDigest = new Map(found.map(row => [toText(row['digest']), row]))
  const known = [...byDigest.keys()].every(digest => asked.has(digest))
  if (!known || byDigest.size !== found.length) throw malformedReply('database', 'a row for each key')
  return byDigest
}

/**
 * True when the server itself refused a statement (SQLSTATE; the codes of Node begin with E, and class 08 is a
 * connection that broke): the fault may lie with one call of many, and nothing of it took effect or still will.
 * Where a server that shuts down says so after its commit, a begin knows its row by the owner.
 */
function isRefusal(error: unknown): boolean {
  const code = error instanceof Fault && (error.cause as { code?: unknown } | undefined)?.code
  return typeof code === 'string' && /^(?!E|08)[0-9A-Z]{5}$/.test(code)
}

/**
 * A verb whose calls share a statement. It carries one call of a key, since a row can be written once in it: the
 * others go by themselves after it. So do all of them where it is refused, and a bad one fails alone.
 */
function sharing<Call extends Values>(db: SqlClient, text: string, alone: Run<Call>): Run<Call> {
  const together = async (
    calls: readonly Call[],
  ): Promise<readonly (readonly SqlRow[] | ReturnType<Run<Call>>)[]> => {
    const carried = new Map<string, Call>()
    for (const call of calls) if (!carried.has(call[0])) carried.set(call[0], call)
    let found: Map<string, SqlRow>
    try {
      found = byDigest(await rows(db, text, columns([...carried.values()])), carried)
    } catch (error) {
      if (!isRefusal(error)) throw error
      return calls.map(alone)
    }
    return calls.map(call => {
      const row = found.get(call[0])
      if (carried.get(call[0]) !== call) return alone(call)
      return row ? [row] : []
    })
  }
  return gather(MOST_TOGETHER, { alone, together }, { atOnce: MOST_AT_ONCE, stalledMs: STALLED_MS })
}

/** The verbs, with begins that share statements and endings that do. */
export function verbsTogether(db: SqlClient, table: string, alone: SqlVerbs): SqlVerbs {
  const begin = sharing(db, beginStatement(table), alone.begin)
  const end = sharing(db, endStatement(table), alone.end)
  // Asked here, because the statement may be sent from within another call.
  return {
    begin(values) {
      assertOutsideTransactionScope(db)
      return begin(values)
    },
    end(values) {
      assertOutsideTransactionScope(db)
      return (values[3]?.length ?? 0) > LONGEST_TOGETHER ? alone.end(values) : end(values)
    },
    collect: alone.collect,
  }
}
