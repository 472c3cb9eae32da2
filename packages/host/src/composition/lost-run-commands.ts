import { isNote, LONGEST_NOTE } from '@gatewright/idempotency-store/internal'
import { type Command, type CommandArguments, CommandError, UsageError } from '../cli/command.ts'
import { integerArgument } from '../cli/arguments.ts'
import { describedLostRuns, type OperatorDecision } from './described-lost-runs.ts'
import type { HostServices } from './host-services.ts'

/** How many lost runs `lost-runs list` prints at most. */
const MOST = 1000

const NOTE_OPTIONS = { by: 'who decides: a name or a team', reason: 'why, such as the number of a ticket' }
const EXAMPLE =
  '3qJ9sV0cY1bN4xWtYkLs7PdZ2aRmQe5uHf8gTi6oKjw.1763836800000 --by "Ana, payments" --reason OPS-71'

const COLUMNS = [
  { head: 'BEGAN', kind: 'instant' },
  { head: 'LEASE ENDED', kind: 'instant' },
  { head: 'OPERATION', kind: 'text' },
  { head: 'ACCOUNT', kind: 'id' },
  { head: 'OPERATION ID', kind: 'id' },
  { head: 'RUN', kind: 'id' },
] as const

/** Commands on writes with an idempotency key whose outcome is unknown. */
export const lostRunCommands: readonly Command<Pick<HostServices, 'lostRuns'>>[] = [
  {
    name: 'lost-runs list',
    takes: [],
    options: {
      account: 'only the runs of this account',
      limit: `how many, 1 to ${MOST}; default 100`,
      after: 'what the page before printed as next',
    },
    summary:
      'List writes whose outcome is unknown, oldest first. A client that repeats one gets outcome_unknown',
    example: '--account acc_1',
    check: listQuery,
    async run({ lostRuns }, args) {
      const data = await describedLostRuns.list(lostRuns, listQuery(args))
      const { runs, next } = data
      return {
        data,
        table: {
          columns: COLUMNS,
          rows: runs.map(run => [
            run.beganAt,
            run.leaseEndedAt,
            run.operation,
            run.account,
            run.operationId,
            run.run,
          ]),
          dropFirst: ['OPERATION ID', 'ACCOUNT', 'LEASE ENDED', 'BEGAN'],
        },
        empty: 'No lost runs.',
        ...(next === undefined ? {} : { note: `There are more: --after ${next}` }),
      }
    },
  },
  {
    name: 'lost-runs show',
    takes: ['RUN'],
    summary:
      'Show a lost run, and the latest decision about its idempotency key. RUN is as lost-runs list prints it',
    example: '3qJ9sV0cY1bN4xWtYkLs7PdZ2aRmQe5uHf8gTi6oKjw.1763836800000',
    async run({ lostRuns }, { positional: [run = ''] }) {
      const data = await describedLostRuns.show(lostRuns, run)
      if (!data) throw new CommandError(`no record of ${run}: see npx gatewright lost-runs list`)
      const { decision, ...record } = data
      const { outcome = null, by = null, reason = null, at = null } = decision ?? {}
      const decided = { decision: outcome, decidedBy: by, reason, decidedAt: at }
      return { data, fields: { ...record, ...decided } }
    },
  },
  {
    name: 'lost-runs resolve',
    takes: ['RUN'],
    options: {
      ...NOTE_OPTIONS,
      data: 'the JSON object that retries of the client get as data; default {}',
    },
    summary:
      'Decide that a lost run took effect: what it reserved of spend limits is spent, and retries get a response',
    example: `${EXAMPLE} --data '{"id":"pay_1"}'`,
    confirm: 'A decision cannot be undone: first make sure that the write took effect.',
    check: decisionOf,
    subject: ({ lostRuns }, args) => subjectOf(lostRuns, args, 'took effect'),
    run: ({ lostRuns }, args) => decide(lostRuns, 'completed', args),
  },
  {
    name: 'lost-runs release',
    takes: ['RUN'],
    options: NOTE_OPTIONS,
    summary: 'Decide that a lost run had no effect: its spend hold is released, and its key is free',
    example: EXAMPLE,
    confirm: 'After this a retry runs the write again: first make sure that it took no effect.',
    check: decisionOf,
    subject: ({ lostRuns }, args) => subjectOf(lostRuns, args, 'had no effect'),
    run: ({ lostRuns }, args) => decide(lostRuns, 'never_happened', args),
  },
]

function listQuery({ options: { account, limit = '100', after } }: CommandArguments) {
  if (after !== undefined && !/^\d{1,15}\.[\w-]{1,64}(?:\.[\w-]{1,64})?$/.test(after))
    throw new UsageError('--after must be what the page before printed as next')
  return { account, limit: integerArgument('--limit', limit, 1, MOST), after }
}

/** Reads what the operator decided, and the note about it. */
function decisionOf({ options }: CommandArguments): Omit<OperatorDecision, 'outcome'> {
  return {
    data: parseData(options['data'] ?? '{}'),
    by: noteOption('by', options['by']),
    reason: noteOption('reason', options['reason']),
  }
}

async function subjectOf(
  lostRuns: HostServices['lostRuns'],
  { positional: [run = ''] }: CommandArguments,
  outcome: string,
): Promise<string> {
  const found = await describedLostRuns.show(lostRuns, run)
  if (!found) throw new CommandError(`no record of ${run}: see npx gatewright lost-runs list`)
  return `Decide that ${found.operation} of ${found.account}, begun ${found.beganAt}, ${outcome}.`
}

async function decide(
  lostRuns: HostServices['lostRuns'],
  outcome: OperatorDecision['outcome'],
  args: CommandArguments,
) {
  const [run = ''] = args.positional
  const decision = decisionOf(args)
  const { by, reason } = decision
  if (!(await describedLostRuns.decide(lostRuns, run, { outcome, ...decision })))
    throw new CommandError(
      `${run} is not lost, or somebody has decided about it: see npx gatewright lost-runs show ${run}`,
    )
  return { data: { run, outcome, by, reason }, lines: [`${run}: ${outcome}.`] }
}

function noteOption(name: 'by' | 'reason', text: string | undefined): string {
  if (isNote(name, text)) return text
  throw new UsageError(
    `--${name} is required: 1 to ${LONGEST_NOTE[name]} characters that are kept with the record`,
  )
}

function parseData(text: string): Readonly<Record<string, unknown>> {
  try {
    const data: unknown = JSON.parse(text)
    if (typeof data === 'object' && data !== null && !Array.isArray(data))
      return data as Readonly<Record<string, unknown>>
  } catch {
    // The error is thrown below.
  }
  throw new UsageError('--data must be a JSON object')
}
