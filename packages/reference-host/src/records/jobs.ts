import type { Clock, EpochMs } from '@gatewright/kernel'
import {
  rows,
  toInteger,
  toText,
  type SqlClient,
  type SqlDialect,
  type SqlQueries,
  type SqlRow,
} from '@gatewright/kernel/sql'

/** A call to a provider that is to be made after the transaction that asked for it. */
interface Job {
  readonly kind: string
  /** The row that it is about. */
  readonly subjectId: string
  /** How often it was leased: whoever leases it later counts further, so a worker that came too late is told apart. */
  readonly attempts: number
}

/** What a call came to: how to commit it, or `again` where nothing is final yet. */
export type JobOutcome = ((tx: SqlQueries) => Promise<void>) | 'again'

/** Makes the call of one job. Faults and `again` bring the job back later. It runs at least once, so the provider must know the id. */
export type JobHandler = (subjectId: string, signal: AbortSignal) => Promise<JobOutcome>

/** A job as operators see it. */
export interface ListedJob extends Job {
  readonly dueAt: EpochMs
  readonly createdAt: EpochMs
}

/** Jobs of one database, whatever host has asked for them. */
export interface JobQueue {
  /** Adds a job that is due at once, in the transaction of what it is about. A job that waits already becomes due. */
  add(tx: SqlQueries, kind: string, subjectId: string, now: EpochMs): Promise<void>
  /** Runs one job now if it waits, and resolves when its outcome is committed. Never rejects. */
  runNow(kind: string, subjectId: string): Promise<void>
  /** Runs jobs that are due, at most `limit`. Resolves with how many were leased. */
  runDue(limit: number, signal: AbortSignal): Promise<number>
  list(limit: number): Promise<ListedJob[]>
  /** Makes a job due at once; false when there is none. */
  retry(kind: string, subjectId: string): Promise<boolean>
}

/** What the queue works with. */
export interface JobServices {
  readonly db: SqlClient
  readonly dialect: SqlDialect
  readonly clock: Clock
  /** By kind. A job of another kind stays: a newer host knows it. */
  readonly handlers: Readonly<Record<string, JobHandler>>
  readonly report: (error: unknown) => void
}

/** For how long a leased job is nobody else's. A call ends within 10 seconds. */
export const JOB_LEASE_MS = 30_000
/** When a job that is not final comes again, by how often it was tried. */
const AGAIN_MS = [5_000, 30_000, 60_000]
const AT_LAST_MS = 600_000

const ADD = `insert into gw_jobs (kind, subject_id, due_at, created_at) values ($1, $2, $3, $3)
  on conflict (kind, subject_id) do update set due_at = excluded.due_at`
const END = 'delete from gw_jobs where kind = $1 and subject_id = $2 and attempts = $3 returning kind'
const AGAIN = 'update gw_jobs set due_at = $4 where kind = $1 and subject_id = $2 and attempts = $3'

/** Makes the queue of a database. */
export function jobQueue({ db, dialect, clock, handlers, report }: JobServices): JobQueue {
  const skipLocked = dialect === 'postgres' ? ' for update skip locked' : ''
  const kinds = Object.keys(handlers)

  const lease = async (
    where: string,
    values: readonly (string | number)[],
    limit: number,
  ): Promise<Job[]> => {
    const now = clock.now()
    const places = values.map((_, index) => `$${index + 4}`)
    const text = `update gw_jobs set attempts = attempts + 1, due_at = $1
      where (kind, subject_id) in (select kind, subject_id from gw_jobs
        where due_at <= $2 and ${where.replace('?', places.join(', '))} order by due_at limit $3${skipLocked})
      returning *`
    return (await rows(db, text, [now + JOB_LEASE_MS, now, limit, ...values])).map(toJob)
  }

  const run = async (job: Job, signal: AbortSignal): Promise<void> => {
    const { kind, subjectId, attempts } = job
    try {
      const handler = handlers[kind] as JobHandler
      const outcome = await handler(subjectId, signal)
      if (outcome !== 'again') return await db.transaction(tx => commit(tx, job, outcome))
    } catch (error) {
      report(error)
    }
    const dueAt = clock.now() + (AGAIN_MS[attempts - 1] ?? AT_LAST_MS)
    await rows(db, AGAIN, [kind, subjectId, attempts, dueAt]).catch(report)
  }

  return {
    async add(tx, kind, subjectId, now) {
      await rows(tx, ADD, [kind, subjectId, now])
    },
    async runNow(kind, subjectId) {
      const [job] = await lease('(kind, subject_id) = (?)', [kind, subjectId], 1).catch(error => {
        report(error)
        return []
      })
      if (job) await run(job, AbortSignal.timeout(JOB_LEASE_MS))
    },
    async runDue(limit, signal) {
      if (kinds.length === 0) return 0
      const jobs = await lease('kind in (?)', kinds, limit)
      await Promise.all(jobs.map(job => run(job, signal)))
      return jobs.length
    },
    async list(limit) {
      const text = 'select * from gw_jobs order by due_at, kind, subject_id limit $1'
      return (await rows(db, text, [limit])).map(row => ({
        ...toJob(row),
        dueAt: toInteger(row['due_at']),
        createdAt: toInteger(row['created_at']),
      }))
    },
    async retry(kind, subjectId) {
      const text = 'update gw_jobs set due_at = $3 where kind = $1 and subject_id = $2 returning kind'
      return (await rows(db, text, [kind, subjectId, clock.now()])).length > 0
    },
  }
}

/** Commits an outcome together with the end of its job. The row that it is about is locked first, as by whoever adds a job. */
async function commit(
  tx: SqlQueries,
  { kind, subjectId, attempts }: Job,
  outcome: (tx: SqlQueries) => Promise<void>,
): Promise<void> {
  await outcome(tx)
  const ended = await rows(tx, END, [kind, subjectId, attempts])
  if (ended.length === 0)
    throw new Error(`job ${kind} ${subjectId} was leased by another worker: its outcome counts`)
}

function toJob(row: SqlRow): Job {
  return {
    kind: toText(row['kind']),
    subjectId: toText(row['subject_id']),
    attempts: toInteger(row['attempts']),
  }
}
