import { isoOrNull } from '../cli/cell.ts'
import { CommandError, type Command } from '../cli/command.ts'
import { listCommand, MAX_LISTED } from '../cli/list.ts'
import { describedJobs } from '../records/described-jobs.ts'
import { operatorActions } from '../records/operator-actions.ts'
import { heldKeyCommands } from './held-key-commands.ts'
import { historyCommands } from './history-commands.ts'
import { operationTable } from './host-module.ts'
import type { HostServices } from './host-services.ts'
import type { Module } from './module.ts'
import { lostRunCommands } from './lost-run-commands.ts'
import { restoredCommand } from './restored-command.ts'

/** Loads the commands that work on the stores: those of the modules, then those of every host. */
export async function storeCommands<S extends HostServices>(
  modules: readonly Module<S>[],
): Promise<readonly Command<S>[]> {
  const files = await Promise.all(modules.flatMap(module => module.commands?.() ?? []))
  return [...files.flatMap(file => file.commands), ...kitCommands]
}

/**
 * Commands of every host: on its operations, on jobs (calls to providers that wait to be made), on writes with an idempotency key whose
 * outcome is unknown, on history that the database has lost, on keys that are held since a restore, and on what operators have changed.
 */
export const kitCommands: readonly Command<HostServices>[] = [
  listCommand({
    name: 'operations',
    readsStores: false,
    takes: [],
    summary: 'Print every operation with its credential, scopes and limits',
    example: '',
    rows: async services =>
      operationTable(services).map(({ id, method, paths, surface, credential, scopes = [], ...rest }) => ({
        id,
        method,
        paths,
        surface,
        credential,
        scopes,
        idempotent: 'write' in rest,
      })),
    columns: {
      OPERATION: 'id',
      METHOD: 'method',
      PATH: ({ paths }) => paths[0],
      CREDENTIAL: 'credential',
      SCOPES: 'scopes',
      IDEMPOTENT: ({ idempotent }) => (idempotent ? 'yes' : '-'),
    },
    dropFirst: ['IDEMPOTENT', 'SCOPES', 'CREDENTIAL'],
  }),
  restoredCommand,
  listCommand({
    name: 'jobs list',
    takes: [],
    summary: `List jobs (calls to providers that wait to be made), at most ${MAX_LISTED}, those due first`,
    example: '',
    rows: ({ jobs }) => describedJobs.list(jobs, MAX_LISTED),
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
  ...heldKeyCommands,
  listCommand({
    name: 'audit operator',
    takes: [],
    summary: `List what operators changed by repairs, after restores and on webhooks, at most ${MAX_LISTED}, newest first`,
    example: '--json',
    rows: async ({ db }: Pick<HostServices, 'db'>) =>
      (await operatorActions.list(db, MAX_LISTED)).map(({ at, ...action }) => ({
        at: isoOrNull(at),
        ...action,
      })),
    columns: { AT: 'at', COMMAND: 'command', DETAIL: 'detail' },
    empty: 'No operator has changed anything.',
  }),
]
