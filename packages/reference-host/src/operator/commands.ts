import { type HostServices, listJobs } from '@gatewright/host'
import { MAX_LISTED, UsageError, type Command, listCommand } from '@gatewright/host/cli'
import { dueAliases, reportText } from '@gatewright/legacy-alias-router'
import { aliasTable } from '../product/aliases.ts'
import { reportAliases } from './aliases.ts'
import { decisionOf, listLostRuns, resolveLostRun } from './lost-runs.ts'

/**
 * Commands on jobs (calls to providers that wait to be made), on writes with an idempotency key whose outcome is unknown, and on
 * legacy names.
 */
export const commands: readonly Command<Pick<HostServices, 'backend' | 'clock' | 'jobs'>>[] = [
  listCommand({
    name: 'jobs list',
    takes: [],
    summary: `List the calls to providers that wait, at most ${MAX_LISTED}, those due first`,
    example: '',
    rows: ({ jobs }) => listJobs(jobs, MAX_LISTED),
    columns: { KIND: 'kind', SUBJECT: 'subjectId', ATTEMPTS: 'attempts', DUE: 'dueAt', CREATED: 'createdAt' },
    empty: 'No jobs.',
  }),
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
  listCommand({
    name: 'runs lost',
    takes: [],
    summary: `List writes whose outcome is unknown: their clients get outcome_unknown. At most ${MAX_LISTED}`,
    example: '',
    rows: ({ backend, clock }) => listLostRuns(backend.lostRuns, MAX_LISTED, clock.now()),
    columns: { BEGAN: 'beganAt', 'LEASE ENDED': 'leaseEndedAt', 'OPERATION ID': 'operationId', RUN: 'run' },
    empty: 'No lost runs.',
  }),
  {
    name: 'runs resolve',
    takes: ['RUN', 'OUTCOME'],
    options: { data: 'with completed: the JSON object that retries of the client get as data; default {}' },
    summary: 'Decide about a lost run: never_happened frees its key, completed answers retries',
    example: '3qJ9sV0cY1bN4xWtYkLs7PdZ2aRmQe5uHf8gTi6oKjw.1763836800000 never_happened',
    confirm: 'After never_happened a retry runs the write again: first make sure that it took no effect.',
    async run({ backend, clock }, { positional: [run = '', outcome = ''], options }) {
      const decision = decisionOf(outcome, parseData(options['data'] ?? '{}'))
      if (!decision) throw new UsageError('OUTCOME must be never_happened or completed')
      if (!(await resolveLostRun(backend.lostRuns, run, decision, clock.now())))
        throw new UsageError(`${run} is not lost, or somebody has decided about it: see gatewright runs lost`)
      return { data: { run, outcome }, lines: [`${run}: ${outcome}.`] }
    },
  },
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

function parseData(text: string): unknown {
  try {
    const data: unknown = JSON.parse(text)
    if (typeof data === 'object' && data !== null && !Array.isArray(data)) return data
  } catch {
    // The error is thrown below.
  }
  throw new UsageError('--data must be a JSON object')
}
