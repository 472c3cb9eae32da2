import type { HostServices } from '@gatewright/host'
import {
  listJobs,
  CommandError,
  MAX_LISTED,
  historyCommands,
  lostRunCommands,
} from '@gatewright/host/internal'
import { listCommand, type Command } from '@gatewright/host/cli'
import { dueAliases, reportText } from '@gatewright/legacy-alias-router'
import { aliasTable } from '../product/aliases.ts'
import { reportAliases } from './aliases.ts'

/**
 * Commands on jobs (calls to providers that wait to be made), on writes with an idempotency key whose outcome is unknown, on history
 * that the database has lost, and on legacy names.
 */
export const commands: readonly Command<
  Pick<HostServices, 'backend' | 'clock' | 'db' | 'jobs' | 'lostRuns'>
>[] = [
  listCommand({
    name: 'jobs list',
    takes: [],
    summary: `List jobs (calls to providers that wait to be made), at most ${MAX_LISTED}, those due first`,
    example: '',
    rows: ({ jobs }) => listJobs(jobs, MAX_LISTED),
    columns: { KIND: 'kind', SUBJECT: 'subjectId', ATTEMPTS: 'attempts', DUE: 'dueAt', CREATED: 'createdAt' },
    dropFirst: ['CREATED', 'ATTEMPTS'],
    empty: 'No jobs.',
  }),
  {
    name: 'jobs retry',
    takes: ['KIND', 'SUBJECT'],
    summary:
      'Run a job within seconds, not at its next attempt. KIND and SUBJECT are as jobs list prints them',
    example: 'kyc.submit kyc_1c6f0f6d0e4b4f3f8a39d3f1bb6c0a52',
    async run({ jobs }, { positional: [kind = '', subjectId = ''] }) {
      if (!(await jobs.retry(kind, subjectId))) {
        throw new CommandError(`no job ${kind} ${subjectId} waits: see npx gatewright jobs list`)
      }
      return { data: { kind, subjectId, due: true }, lines: [`${kind} ${subjectId} is due.`] }
    },
  },
  ...lostRunCommands,
  ...historyCommands,
  {
    name: 'aliases report',
    takes: [],
    summary: 'Print which clients still use which legacy name',
    example: '--json',
    async run({ backend, clock }) {
      const report = await reportAliases(backend.aliasUsage, clock.now())
      return { data: report, lines: reportText(report).trimEnd().split('\n') }
    },
  },
  {
    name: 'aliases due',
    takes: [],
    summary: 'List legacy names that still work after their sunset date',
    example: '--json',
    async run({ clock }) {
      const due = dueAliases(aliasTable, clock.now())
      const data = due.map(({ alias, sunset }) => ({ id: alias.id, sunset: new Date(sunset).toISOString() }))
      const lines = data.map(({ id, sunset }) => `${id} was due to end on ${sunset.slice(0, 10)}`)
      return { data, lines: lines.length === 0 ? ['No legacy name is past its sunset date.'] : lines }
    },
  },
]
