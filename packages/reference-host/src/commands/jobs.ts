import { type Command, UsageError } from '@gatewright/host/cli'
import { listJobs } from '@gatewright/host'
import type { Services } from '../services/services.ts'

/** How many jobs `jobs list` prints at most. */
const MOST = 1000

/** Commands on jobs: calls to providers that wait to be made. */
export const jobCommands: readonly Command<Services>[] = [
  {
    name: 'jobs list',
    takes: [],
    summary: `List the calls to providers that wait, at most ${MOST}, those due first`,
    example: '',
    async run({ jobs }) {
      const data = await listJobs(jobs, MOST)
      const rows = data.map(job => [job.kind, job.subjectId, `${job.attempts}`, job.dueAt, job.createdAt])
      return { data, table: [['KIND', 'SUBJECT', 'ATTEMPTS', 'DUE', 'CREATED'], ...rows], empty: 'No jobs.' }
    },
  },
  {
    name: 'jobs retry',
    takes: ['KIND', 'SUBJECT'],
    summary: 'Make a job due at once; the next host that looks runs it',
    example: 'kyc.submit kyc_1c6f0f6d0e4b4f3f8a39d3f1bb6c0a52',
    async run({ jobs }, { positional: [kind = '', subjectId = ''] }) {
      if (!(await jobs.retry(kind, subjectId))) {
        throw new UsageError(`no job ${kind} ${subjectId} waits: see gatewright jobs list`)
      }
      return { data: { kind, subjectId, due: true }, lines: [`${kind} ${subjectId} is due.`] }
    },
  },
]
