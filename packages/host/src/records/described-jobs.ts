import type { EpochMs } from '@gatewright/kernel'
import type { Job, JobQueue } from './jobs.ts'

/** A job in the output for operators: its instants are RFC 3339. */
interface DescribedJob extends Omit<Job, 'dueAt' | 'createdAt'> {
  readonly dueAt: string
  readonly createdAt: string
}

/** How many jobs of a kind wait, and how old the oldest is. */
interface WaitingKind {
  readonly kind: string
  readonly jobs: number
  readonly ageSeconds: number
}

/** The jobs that wait, as operators see them. */
export const describedJobs = {
  /** Lists up to `limit` jobs, those due first. */
  async list(queue: JobQueue, limit: number): Promise<DescribedJob[]> {
    return (await queue.list(limit)).map(({ accountId, kind, subjectId, attempts, dueAt, createdAt }) => ({
      accountId,
      kind,
      subjectId,
      attempts,
      dueAt: new Date(dueAt).toISOString(),
      createdAt: new Date(createdAt).toISOString(),
    }))
  },

  /** Counts the jobs of each kind, with the age of the oldest. */
  async count(queue: JobQueue, now: EpochMs): Promise<WaitingKind[]> {
    const waiting = await queue.waiting()
    return waiting.map(({ kind, jobs, oldestAt }) => ({ kind, jobs, ageSeconds: (now - oldestAt) / 1000 }))
  },
}
