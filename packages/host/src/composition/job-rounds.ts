import type { JobQueue } from '../records/jobs.ts'
import type { Chore } from './chores.ts'

/** Pause between two rounds of jobs. */
const EVERY_MS = 5000
/** Calls of one kind that one host makes at the same time. */
const CALLS_AT_ONCE = 16

/** Makes the chores that run due jobs. Each kind of job has its own, so that a provider that hangs delays no other. */
export function jobRounds(jobs: JobQueue): readonly Chore[] {
  return jobs.kinds.map(kind => ({
    name: `run jobs ${kind}`,
    everyMs: EVERY_MS,
    async run(signal) {
      while (!signal.aborted && (await jobs.runDue(kind, CALLS_AT_ONCE, signal)) === CALLS_AT_ONCE);
    },
  }))
}
