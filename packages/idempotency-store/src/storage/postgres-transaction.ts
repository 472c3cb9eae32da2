import { keyDigest, malformedReply, type EpochMs } from '@gatewright/kernel'
import { rows, toInteger, type SqlQueries, type SqlRow } from '@gatewright/kernel/sql'
import type { Begun, IdempotencyStorage } from './port.ts'
import { endValues, readHeld, tableName, type SqlStorageOptions } from './statements.ts'

/** A run that has begun in a transaction and is written at its end. */
interface Claimed {
  readonly fingerprint: string
  readonly fence: number
  /** The fence of the ended record it takes the place of, or null for a new key. */
  readonly replaced: number | null
}

/** By transaction, because a begin and its ending may come from two storages over the same one. */
const claimedIn = new WeakMap<SqlQueries, Map<string, Claimed>>()

function claimsOf(tx: SqlQueries): Map<string, Claimed> {
  const claims = claimedIn.get(tx) ?? new Map<string, Claimed>()
  claimedIn.set(tx, claims)
  return claims
}

/** What stands in the way of a run, or the run that may start. The key's lock is held. */
function judge(row: SqlRow, fingerprint: string, now: EpochMs): Begun | Claimed {
  if (row['state'] === null) return { fingerprint, fence: now, replaced: null }
  const last = toInteger(row['fence'])
  const over = row['state'] === 'free' || (row['state'] === 'done' && toInteger(row['until']) <= now)
  return over
    ? { fingerprint, fence: Math.max(last + 1, now), replaced: last }
    : readHeld(row, fingerprint, now)
}

/**
 * The record in an open transaction. A begin writes nothing: nobody could see a running record before the commit,
 * and the lock speaks for it. The ending writes the record as a whole, and is false where somebody has decided
 * about the key since the begin read it (the lock may be had an instant after that); then the transaction must be
 * rolled back. Runs that other transactions have begun are ended by `record`.
 */
export function recordInTransaction(
  tx: SqlQueries,
  record: IdempotencyStorage,
  options: SqlStorageOptions,
): IdempotencyStorage {
  const table = tableName(options)
  const begin = `select got, fingerprint, fence, state, until, answer
    from (select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as got) as lock
    left join ${table} on got and digest = $1`
  const write = `insert into ${table} as held (digest, fingerprint, fence, owner, state, answer, until)
    values ($1, $2, $3, '', $4, $5, $6)
    on conflict (digest) do update set fingerprint = excluded.fingerprint, fence = excluded.fence,
      owner = excluded.owner, state = excluded.state, answer = excluded.answer, until = excluded.until
    where held.fence = $7 and held.state <> 'running' returning 1 as won`
  return {
    async begin(key, fingerprint, _leaseUntil, now) {
      const [row] = await rows(tx, begin, [keyDigest(key)])
      const got = row?.['got']
      if (!row || typeof got !== 'boolean') throw malformedReply('database', 'a lock')
      const claims = claimsOf(tx)
      if (!got || claims.has(key)) return { state: 'running' }
      const found = judge(row, fingerprint, now)
      if ('state' in found) return found
      claims.set(key, found)
      return { state: 'started', fence: found.fence }
    },
    async end(key, fence, ending, now) {
      const claims = claimsOf(tx)
      const claimed = claims.get(key)
      if (claimed?.fence !== fence) return record.end(key, fence, ending, now)
      claims.delete(key)
      const values = [keyDigest(key), claimed.fingerprint, fence, ...endValues(ending), claimed.replaced]
      return (await rows(tx, write, values)).length === 1
    },
    collect: record.collect,
  }
}
