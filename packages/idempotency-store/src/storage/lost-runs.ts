import { checkOptions, type EpochMs } from '@gatewright/kernel'
import { rows, toInteger, toText, type SqlQueries, type SqlRow } from '@gatewright/kernel/sql'
import { RETENTION, type RecoveryResult } from '../options.ts'
import { encodeResponse } from '../response/encoding.ts'
import { classify, isStoredResponse } from '../response/stored-response.ts'
import { SQL_OPTIONS, tableName, type SqlIdempotencyOptions } from './statements.ts'

/** A run in the table whose outcome is unknown, for the operator who decides about it. */
export interface ListedLostRun {
  /** Identifies the record of the idempotency key in the table. */
  readonly digest: string
  /** The fence of the lost run, which is also about when it began, in ms. */
  readonly fence: number
  /** The id of the run's effect. Clients were given it as `operationId`. */
  readonly effectId: string
  /** When its lease ended; null if the handler's process reported that the outcome is unknown. */
  readonly leaseEndedAt: EpochMs | null
}

/** The lost runs of a table. */
export interface LostRuns {
  /** Lists up to `limit` lost runs, those without an end of the lease first, then those that ended first. */
  list(limit: number, now: EpochMs): Promise<readonly ListedLostRun[]>
  /**
   * Decides about a lost run, as `recover` does. True: this call decided. False: the run is not lost, because it was decided
   * before, it has ended, or a newer run has begun. Of several simultaneous calls for one run, one returns true. Throws a
   * `TypeError` for a response without a final status.
   */
  resolve(
    run: Pick<ListedLostRun, 'digest' | 'fence'>,
    decision: Exclude<RecoveryResult, { readonly state: 'unknown' }>,
    now: EpochMs,
  ): Promise<boolean>
}

/** Options of `lostRuns`. */
interface LostRunsOptions extends SqlIdempotencyOptions {
  /**
   * How long the response of a decision is replayed, in ms: give the `retentionMs` of the hosts. 60 000 to 31 536 000 000,
   * default 86 400 000 (24 h).
   */
  readonly retentionMs?: number
}

/**
 * Lists and decides the lost runs of an SQL table directly, without the hosts that use the table. The same statements run on
 * Postgres, where an index holds the lost runs, and on SQLite, where `list` reads the whole table.
 */
export function lostRuns(db: SqlQueries, options: LostRunsOptions = {}): LostRuns {
  const { prefix, retentionMs } = checkOptions('lostRuns', options, {
    ...SQL_OPTIONS,
    retentionMs: RETENTION,
  })
  const table = tableName(prefix)
  const list = `select digest, fingerprint, fence, until from ${table}
    where state = 'running' and until <= $1 order by until, digest limit $2`
  const resolve = `update ${table} set state = $3, response = $4, until = $5
    where digest = $1 and fence = $2 and state = 'running' and until <= $6 returning 1 as won`
  return {
    list: async (limit, now) => (await rows(db, list, [now, limit])).map(toListed),
    async resolve({ digest, fence }, decision, now) {
      const [state, response] = endingOf(decision)
      // The fence is a time on the clock of the host that began the run. A slower clock here must not shorten the replays.
      const until = Math.max(now, fence) + retentionMs
      const values = [digest, fence, state, response, until, now]
      return (await rows(db, resolve, values)).length === 1
    },
  }
}

function endingOf(decision: Parameters<LostRuns['resolve']>[1]): [state: string, response: string | null] {
  if (decision.state === 'never_happened') return ['free', null]
  const { response } = decision
  if (!isStoredResponse(response) || classify(response.status) !== 'final')
    throw new TypeError('resolve: the response of a completed run must have a final status')
  return ['done', encodeResponse(response)]
}

function toListed(row: SqlRow): ListedLostRun {
  const until = toInteger(row['until'])
  return {
    digest: toText(row['digest']),
    fence: toInteger(row['fence']),
    effectId: toText(row['fingerprint']),
    leaseEndedAt: until === 0 ? null : until,
  }
}
