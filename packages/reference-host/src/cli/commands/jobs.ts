import * as token from '../../composition/registrations.ts'
import { tableLines, UsageError, type Command } from '../command.ts'

/** Most jobs that `jobs list` prints. */
const MOST = 1000

/** Commands on calls to providers that are still to be made. */
export const jobCommands: readonly Command[] = [
  {
    name: 'jobs list',
    takes: [],
    summary: 'List calls to providers that are to be made, the next one first',
    async run({ container }) {
      const data = await container.get(token.JOBS).list(MOST)
      const lines = data.map(({ kind, subjectId, attempts, dueAt, createdAt }) => [
        ...[kind, subjectId, String(attempts)],
        ...[new Date(dueAt).toISOString(), new Date(createdAt).toISOString()],
      ])
      const head = ['KIND', 'ABOUT', 'TRIES', 'DUE', 'ADDED']
      return { data, lines: lines.length === 0 ? ['No jobs.'] : tableLines([head, ...lines]) }
    },
  },
  {
    name: 'jobs retry',
    takes: ['KIND', 'ABOUT'],
    summary: 'Make a job due at once',
    async run({ container }, { positional: [kind = '', about = ''] }) {
      if (!(await container.get(token.JOBS).retry(kind, about)))
        throw new UsageError(`no job ${kind} ${about} waits: see gatewright jobs list`)
      return { data: { kind, about, due: true }, lines: [`${kind} ${about} is due now.`] }
    },
  },
]
