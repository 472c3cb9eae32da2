import { Fault, malformedReply, type EpochMs } from '@gatewright/kernel'
import {
  rows,
  toInteger,
  type SqlQueries,
  type SqlRow,
  type SqlTransaction,
  type SqlValue,
} from '@gatewright/kernel/sql'
import type { Begun, Ending, IdempotencyStorage, TransactionStorage } from './port.ts'
import { endValues, readHeld, tableName, type SqlStorageOptions } from './statements.ts'

/** A run that has begun in a transaction and is written at its end. */
interface Claimed {
  readonly key: string
  readonly fingerprint: string
  readonly fence: number
  /** The fence of the ended record it takes the place of, or null for a new key. */
  readonly replaced: number | null
}

/** By transaction, because a begin and its ending may come from two storages over the same one. */
const claimedIn = new WeakMap<SqlQueries, Claimed[]>()

/** What stands in the way of a run, or null and the fence of the record it takes the place of. The key's lock is held. */
function judge(row: SqlRow, fingerprint: string, now: EpochMs): Begun | { readonly replaced: number | null } {
  if (row['state'] === null) return { replaced: null }
  const over = row['state'] === 'free' || (row['state'] === 'done' && toInteger(row['until']) <= now)
  return over ? { replaced: toInteger(row['fence']) } : readHeld(row, fingerprint, now)
}

/** What the write below fails with, by its code and a part of its message. */
const TAKEN = { code: '22P02', text: 'decided by another run' }

const isTaken = (error: unknown): boolean => {
  const cause = error instanceof Fault ? (error.cause as Partial<Record<'code' | 'message', unknown>>) : {}
  return cause?.code === TAKEN.code && String(cause.message).includes(TAKEN.text)
}

/** The statements of a table. Each text is made once: a new one would be hashed and compared as a whole. */
interface Statements {
  readonly begin: string
  /**
   * Writes a record as a whole. Where somebody has decided about the key since the begin read it, it raises an
   * error instead of writing nothing, so that a commit sent along with it cannot happen.
   */
  readonly write: string
}

const statementsOf = new Map<string | undefined, Statements>()

function makeStatements(options: SqlStorageOptions): Statements {
  const table = tableName(options)
  return {
    begin: `select got, fingerprint, fence, state, until, answer
    from (select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as got) as lock
    left join ${table} on got and digest = $1`,
    write: `insert into ${table} as held (digest, fingerprint, fence, owner, state, answer, until)
    values ($1, $2, $3, '', $4, $5, $6)
    on conflict (digest) do update set fingerprint = excluded.fingerprint, owner = excluded.owner,
      state = excluded.state, answer = excluded.answer, until = excluded.until,
      fence = case when held.fence = $7 and held.state <> 'running' then excluded.fence
        else cast('${TAKEN.text}: ' || held.digest as bigint) end`,
  }
}

function statements(options: SqlStorageOptions): Statements {
  let made = statementsOf.get(options.prefix)
  if (!made) {
    made = makeStatements(options)
    statementsOf.set(options.prefix, made)
  }
  return made
}

/**
 * The record in an open transaction. A begin writes nothing: nobody could see a running record before the commit,
 * and the lock speaks for it. The ending writes the record as a whole, and is false where somebody has decided
 * about the key since the begin read it (the lock may be had an instant after that); then the transaction has
 * failed and can only be rolled back. Runs that other transactions have begun are ended by `record`.
 */
export function recordInTransaction(
  tx: SqlTransaction,
  record: () => IdempotencyStorage,
  options: SqlStorageOptions,
): TransactionStorage {
  const { begin, write } = statements(options)
  const { commit } = tx
  const endOn =
    (run: SqlQueries): IdempotencyStorage['end'] =>
    (key, fence, ending, now) =>
      endBy(run, write, takeClaim(tx, key, fence), ending) ?? record().end(key, fence, ending, now)
  return {
    begin: (key, fingerprint, _leaseUntil, now) => beginIn(tx, begin, key, fingerprint, now),
    end: endOn(tx),
    ...(commit && { endLast: endOn({ query: (text, values) => commit.call(tx, text, values) }) }),
    collect: (limit, now) => record().collect(limit, now),
  }
}

// Functions of their own, not made anew for each transaction: V8 would compile those again after each collection.

async function beginIn(
  tx: SqlQueries,
  begin: string,
  key: string,
  fingerprint: string,
  now: EpochMs,
): Promise<Begun> {
  const [row] = await rows(tx, begin, [key])
  const got = row?.['got']
  if (!row || typeof got !== 'boolean') throw malformedReply('database', 'a lock')
  const claims = claimedIn.get(tx) ?? []
  if (!got || claims.some(claim => claim.key === key)) return { state: 'running' }
  const found = judge(row, fingerprint, now)
  if ('state' in found) return found
  const { replaced } = found
  const fence = replaced === null ? now : Math.max(replaced + 1, now)
  claims.push({ key, fingerprint, fence, replaced })
  claimedIn.set(tx, claims)
  return { state: 'started', fence }
}

/** The run of this transaction that holds a fence, which is thereby ended. */
function takeClaim(tx: SqlQueries, key: string, fence: number): Claimed | undefined {
  const claims = claimedIn.get(tx) ?? []
  const at = claims.findIndex(claim => claim.key === key && claim.fence === fence)
  return at < 0 ? undefined : claims.splice(at, 1)[0]
}

/** Writes the record of a run of this transaction; undefined where it is none. */
function endBy(
  run: SqlQueries,
  write: string,
  claimed: Claimed | undefined,
  ending: Ending,
): Promise<boolean> | undefined {
  return claimed && rows(run, write, writeValues(claimed, ending)).then(written, taken)
}

const written = (): boolean => true

const taken = (error: unknown): boolean => {
  if (isTaken(error)) return false
  throw error
}

function writeValues({ key, fingerprint, fence, replaced }: Claimed, ending: Ending): SqlValue[] {
  return [key, fingerprint, fence, ...endValues(ending), replaced]
}
