import type { Clock, EpochMs } from '@gatewright/kernel'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { defer, takesDue, toInteger, toText } from '@gatewright/kernel/internal/sql'
import { defaulted, instant, integer, text } from './columns.ts'
import { hostTable, type Row } from './table.ts'

const jobTable = hostTable('gw_jobs', {
  /** The account of the row that the call is about. */
  accountId: text,
  kind: text,
  /** The id of the row that the call is about. */
  subjectId: text,
  /** How often the job was leased. It is the fencing token: only the worker with the latest count may end the job. */
  attempts: defaulted(integer),
  dueAt: instant,
  createdAt: instant,
})
/** A call to a provider, requested by a transaction and made after its commit. */
export type Job = Row<typeof jobTable>
/** What identifies a job: a row has at most one of each kind. */
type JobKey = Pick<Job, 'kind' | 'accountId' | 'subjectId'>

/**
 * The outcome of a call: a function that writes the result in the transaction that also ends the job, or `again` if there is
 * nothing to write and the call must be repeated later. If the function returns `again`, its rows are committed and the job stays.
 */
type JobOutcome = ((tx: SqlQueries) => Promise<void | 'again'>) | 'again'

/**
 * Makes the call of one job. After an error or `again` the job runs again later. A call is made at least once, so the provider
 * must recognize a repeated id.
 */
export type JobHandler = (job: JobKey, signal: AbortSignal) => Promise<JobOutcome>

/** The jobs of one database. Every host of the database runs them. */
export interface JobQueue {
  /**
   * Adds a job that is due immediately, in the transaction that needs the call. If the job exists already, it becomes due; if a
   * worker runs it, at the end of the lease.
   */
  add(tx: SqlQueries, job: JobKey, now: EpochMs): Promise<void>
  /** Runs one job now if it is due, and resolves when its outcome is committed. Errors are reported; it never rejects. */
  runNow(job: JobKey): Promise<void>
  /** The kinds of jobs that this host can run. */
  readonly kinds: readonly string[]
  /** Runs up to `limit` due jobs of a kind in parallel. Resolves to their number when they have ended. */
  runDue(kind: string, limit: number, signal: AbortSignal): Promise<number>
  /** Lists up to `limit` jobs, the earliest due first. */
  list(limit: number): Promise<Job[]>
  /** Makes the job of a row due immediately, or at the end of its lease if a worker runs it. False: there is no such job. */
  retry(kind: string, subjectId: string): Promise<boolean>
  /** Counts the jobs of each kind, with the time of the oldest. */
  waiting(): Promise<readonly { readonly kind: string; readonly jobs: number; readonly oldestAt: EpochMs }[]>
  /** Resolves when the jobs that `runNow` has started in this process have ended. */
  drained(): Promise<void>
}

/** The services that a queue uses. */
interface JobServices {
  readonly db: SqlClient
  readonly clock: Clock
  /** Handlers by kind of job. Jobs of other kinds are left for a newer host with their handler. */
  readonly handlers: Readonly<Record<string, JobHandler>>
  /** Receives errors of calls and of the database. */
  readonly report: (error: unknown) => void
}

/** How long a lease lasts: no other worker runs the job meanwhile. A call ends within 10 seconds. */
export const JOB_LEASE_MS = 30_000
/** The pauses after the first attempts of a job, and the pause after every later attempt. */
const FIRST_PAUSES_MS = [5_000, 30_000, 60_000]
const LAST_PAUSE_MS = 600_000

const ADD = `insert into gw_jobs as job (account_id, kind, subject_id, due_at, created_at) values ($1, $2, $3, $4, $4)
  on conflict (account_id, kind, subject_id) do update set due_at =
    case when job.leased_until > excluded.due_at then job.leased_until else excluded.due_at end`
/** The job that a worker has leased, if no other has leased it since. */
const LEASED = 'account_id = $1 and kind = $2 and subject_id = $3 and attempts = $4'
const END = `delete from gw_jobs where ${LEASED} returning kind`
const POSTPONE = `update gw_jobs set due_at = $5, leased_until = 0 where ${LEASED} returning kind`

/** Makes the job queue of a database. */
export function jobQueue({ db, clock, handlers, report }: JobServices): JobQueue {
  const started = new Set<Promise<void>>()

  /** Leases up to `limit` due jobs that meet a condition with the parameters $4, $5 ... */
  const lease = async (condition: string, values: readonly string[], limit: number): Promise<Job[]> => {
    const now = clock.now()
    const due = `due_at <= $2 and ${condition}`
    const key = 'account_id, kind, subject_id'
    const taken = await takesDue(db, { table: 'gw_jobs', key, due, order: 'due_at', limit: '$3' })
    const text = `update gw_jobs set attempts = attempts + 1, due_at = $1, leased_until = $1
      where ${taken} returning ${jobTable.columns}`
    return (await rows(db, text, [now + JOB_LEASE_MS, now, limit, ...values])).map(jobTable.read)
  }

  const run = async (job: Job, signal: AbortSignal): Promise<void> => {
    const { kind, attempts } = job
    const againAt = (): EpochMs => clock.now() + (FIRST_PAUSES_MS[attempts - 1] ?? LAST_PAUSE_MS)
    try {
      const handler = handlers[kind] as JobHandler
      const outcome = await handler(job, signal)
      if (outcome !== 'again')
        return await db.transaction(tx => commit(tx, job, { outcome, againAt: againAt() }))
    } catch (error) {
      report(error)
    }
    await rows(db, POSTPONE, [...leasedKey(job), againAt()]).catch(report)
  }

  return {
    kinds: Object.keys(handlers),
    async add(tx, { accountId, kind, subjectId }, now) {
      await defer(tx, ADD, [accountId, kind, subjectId, now])
    },
    async runNow({ accountId, kind, subjectId }) {
      const one = 'account_id = $4 and kind = $5 and subject_id = $6'
      const running = lease(one, [accountId, kind, subjectId], 1).then(
        ([job]) => job && run(job, AbortSignal.timeout(JOB_LEASE_MS)),
        report,
      ) as Promise<void>
      started.add(running)
      await running.finally(() => started.delete(running))
    },
    async runDue(kind, limit, signal) {
      const jobs = Object.hasOwn(handlers, kind) ? await lease('kind = $4', [kind], limit) : []
      await Promise.all(jobs.map(job => run(job, signal)))
      return jobs.length
    },
    list: limit => jobTable.select(db, 'order by due_at, kind, subject_id limit $1', [limit]),
    async retry(kind, subjectId) {
      const now = clock.now()
      const text = `update gw_jobs set due_at = case when leased_until > $3 then leased_until else $4 end
        where kind = $1 and subject_id = $2 returning kind`
      return (await rows(db, text, [kind, subjectId, now, now])).length > 0
    },
    async waiting() {
      const text = 'select kind, count(*) as jobs, min(created_at) as oldest from gw_jobs group by kind'
      return (await rows(db, text)).map(row => ({
        kind: toText(row['kind']),
        jobs: toInteger(row['jobs']),
        oldestAt: toInteger(row['oldest']),
      }))
    },
    async drained() {
      await Promise.all(started)
    },
  }
}

/** The parameters of `LEASED`. */
const leasedKey = ({
  accountId,
  kind,
  subjectId,
  attempts,
}: Job): readonly [string, string, string, number] => [accountId, kind, subjectId, attempts]

/**
 * Writes an outcome, and in the same transaction ends or postpones its job. The outcome locks the subject's row before the job
 * is changed. Transactions that add a job lock in the same order, so that they do not deadlock.
 */
async function commit(
  tx: SqlQueries,
  job: Job,
  { outcome, againAt }: { readonly outcome: Exclude<JobOutcome, 'again'>; readonly againAt: EpochMs },
): Promise<void> {
  const again = await outcome(tx)
  const key = leasedKey(job)
  const done = again ? await rows(tx, POSTPONE, [...key, againAt]) : await rows(tx, END, key)
  if (done.length === 0)
    throw new Error(
      `job ${job.kind} ${job.subjectId} was leased by another worker meanwhile: this outcome was rolled back`,
    )
}
