import { Fault, malformedReply } from '@gatewright/kernel'
import type { EpochMs } from '@gatewright/kernel/internal'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger, type SqlRow, type SqlTransaction } from '@gatewright/kernel/internal/sql'
import type {
  BeginResult,
  Ending,
  IdempotencyStorage,
  NotStarted,
  RunLabel,
  TransactionStorage,
} from './port.ts'
import { columnsOf, endingValues, readExisting, tableName } from './statements.ts'

/** A run that has begun in a transaction. Its record is written when it ends. */
interface PendingRun {
  readonly key: string
  readonly fingerprint: string
  readonly fence: number
  /** The fence of the ended record that it replaces, or null for a new key. */
  readonly replacedFence: number | null
  readonly beganAt: EpochMs
  readonly label: RunLabel
}

/** The pending runs of each transaction. Kept per transaction, because begin and end may come from two storages over it. */
const pendingRuns = new WeakMap<SqlQueries, PendingRun[]>()

/** The error that the `write` statement raises: its SQLSTATE and a part of its message. */
const DECIDED_BY_ANOTHER_RUN = { code: '22P02', message: 'decided by another run' }

const isDecidedByAnotherRun = (error: unknown): boolean => {
  const cause =
    error instanceof Fault
      ? (error.cause as Partial<Record<'code' | 'message', unknown>> | undefined)
      : undefined
  return (
    cause?.code === DECIDED_BY_ANOTHER_RUN.code &&
    String(cause.message).includes(DECIDED_BY_ANOTHER_RUN.message)
  )
}

/** The statements of each prefix, built once because a storage is made for every transaction. */
const statementsOf = new Map<string, ReturnType<typeof buildStatements>>()

function statementsFor(prefix: string): ReturnType<typeof buildStatements> {
  let statements = statementsOf.get(prefix)
  if (!statements) {
    statements = buildStatements(tableName(prefix))
    statementsOf.set(prefix, statements)
  }
  return statements
}

function buildStatements(table: string): { readonly begin: string; readonly write: string } {
  return {
    begin: `select got, fingerprint, fence, state, until, response from ${table}_lock($2, $1)`,
    // Writes the whole record. If another run has decided about the key since the begin read it (possible where a transaction
    // reads from one snapshot: REPEATABLE READ or stricter), the cast fails: the statement raises an error instead of writing
    // nothing, so that a COMMIT that is sent with it cannot happen.
    write: `insert into ${table}@$2 as held
      (digest, account_id, fingerprint, fence, owner, state, response, until, operation, account, began)
    values ($1, $2, $3, $4, '', $5, $6, $7, $9, $10, $11)
    on conflict (account_id, digest) do update set fingerprint = excluded.fingerprint, owner = excluded.owner,
      state = excluded.state, response = excluded.response, until = excluded.until,
      operation = excluded.operation, account = excluded.account, began = excluded.began,
      fence = case when held.fence = $8 and held.state <> 'running' then excluded.fence
        else cast('${DECIDED_BY_ANOTHER_RUN.message}: ' || held.digest as bigint) end`,
  }
}

/**
 * Stores the records in an open transaction. A begin writes nothing: no other transaction could see the record before the
 * commit, and the advisory lock of the key makes other transactions return `running`. The ending writes the whole record. It
 * returns false if another run has decided about the key since the snapshot that the begin read; then the transaction has
 * failed and must be rolled back. `storage` ends runs that were begun in other transactions.
 */
export function transactionStorage(
  tx: SqlTransaction,
  storage: () => IdempotencyStorage,
  prefix: string,
): TransactionStorage {
  const { begin, write } = statementsFor(prefix)
  const endWith =
    (queries: SqlQueries): IdempotencyStorage['end'] =>
    async (key, fence, ending, now) => {
      const run = takePendingRun(tx, key, fence)
      return run ? writeRecord(queries, write, run, ending) : storage().end(key, fence, ending, now)
    }
  const { commit } = tx
  return {
    begin: (key, fingerprint, _leaseUntil, now, label = { operation: '', account: '' }) =>
      beginPendingRun(tx, begin, { key, fingerprint, beganAt: now, label }),
    // Outside a transaction, the statement holds the lock of the key only while it runs.
    whyNotNow: async (key, fingerprint, now) =>
      whyNotStarted(await lockAndRead(tx, begin, key), fingerprint, now),
    end: endWith(tx),
    ...(commit && {
      endLast: endWith({ ...tx, query: (text, values) => commit.call(tx, text, values) }),
    }),
    // No other caller sees a run of this transaction, so nobody can extend it or take it over.
    extend: (...args) => storage().extend(...args),
    takeOver: (...args) => storage().takeOver(...args),
    listLost: page => storage().listLost(page),
    find: key => storage().find(key),
    collect: (limit, now) => storage().collect(limit, now),
  }
}

async function beginPendingRun(
  tx: SqlQueries,
  begin: string,
  started: Omit<PendingRun, 'fence' | 'replacedFence'>,
): Promise<BeginResult> {
  const { key, fingerprint, beganAt: now } = started
  const row = await lockAndRead(tx, begin, key)
  const runs = pendingRuns.get(tx) ?? []
  // A transaction can take its own advisory lock again, so a pending run of the key is looked up separately.
  if (runs.some(run => run.key === key)) return { state: 'running' }
  const notStarted = whyNotStarted(row, fingerprint, now)
  if (notStarted) return notStarted
  const replacedFence = row['state'] === null ? null : toInteger(row['fence'])
  const fence = replacedFence === null ? now : Math.max(replacedFence + 1, now)
  pendingRuns.set(tx, [...runs, { fence, replacedFence, ...started }])
  return { state: 'started', fence }
}

/** Locks a key until the transaction ends, and reads its record. */
async function lockAndRead(tx: SqlQueries, begin: string, key: string): Promise<SqlRow> {
  const [row] = await rows(tx, begin, columnsOf(key))
  if (typeof row?.['got'] !== 'boolean') throw malformedReply('database', 'a lock')
  return row
}

/** Returns why a run cannot start, from the locked record. Undefined if it can. */
function whyNotStarted(row: SqlRow, fingerprint: string, now: EpochMs): NotStarted | undefined {
  if (!row['got']) return { state: 'running' }
  return isNewOrEnded(row, now) ? undefined : readExisting(row, fingerprint, now)
}

const isNewOrEnded = (row: SqlRow, now: EpochMs): boolean =>
  row['state'] === null ||
  row['state'] === 'free' ||
  (row['state'] === 'done' && toInteger(row['until']) <= now)

/** Removes and returns the pending run with a fence. Undefined if this transaction has none. */
function takePendingRun(tx: SqlQueries, key: string, fence: number): PendingRun | undefined {
  const runs = pendingRuns.get(tx) ?? []
  const taken = runs.find(run => run.key === key && run.fence === fence)
  if (taken)
    pendingRuns.set(
      tx,
      runs.filter(run => run !== taken),
    )
  return taken
}

async function writeRecord(
  queries: SqlQueries,
  write: string,
  { key, fingerprint, fence, replacedFence, beganAt, label: { operation, account } }: PendingRun,
  ending: Ending,
): Promise<boolean> {
  // A run of a transaction is never lost, so it has no decision; that of an earlier run of the key stays in the record.
  const [state, response, until] = endingValues(ending)
  const written = [state, response, until, replacedFence, operation, account, beganAt]
  try {
    await rows(queries, write, [...columnsOf(key), fingerprint, fence, ...written])
    return true
  } catch (error) {
    if (isDecidedByAnotherRun(error)) return false
    throw error
  }
}
