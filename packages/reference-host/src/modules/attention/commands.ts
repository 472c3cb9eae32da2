import type { HostServices } from '@gatewright/host'
import { listCommand, type Command, CommandError } from '@gatewright/host/cli'
import { MAX_LISTED, money } from '@gatewright/host/internal'
import { referenceArgument } from '../command-arguments.ts'
import { openReports, resolveAttention, type ReportedKind } from './reports.ts'

/** The differences between the kinds: the title of the column with the reported money, and the id in examples. */
const KINDS = {
  authorization: { column: 'REASON', example: 'auth_1c6f0f6d0e4b4f3f8a39d3f1bb6c0a52' },
  deposit: { column: 'PAYMENT', example: 'dep_1c6f0f6d0e4b4f3f8a39d3f1bb6c0a52' },
} as const

/** The commands on reported money that could not be moved: list it, and mark it as handled. */
export function attentionCommands(
  kind: ReportedKind,
): readonly Command<Pick<HostServices, 'backend' | 'clock'>>[] {
  const group = `${kind}s`
  const { column, example } = KINDS[kind]
  return [
    listCommand({
      name: `${group} list`,
      takes: [],
      summary: `List reports about ${group} whose money could not be moved, newest first`,
      example: '',
      rows: async ({ backend }) =>
        (await openReports(backend.sql, kind, MAX_LISTED)).map(({ at, ...report }) => ({
          at: new Date(at).toISOString(),
          ...report,
        })),
      columns: {
        AT: 'at',
        [column]: 'detail',
        AMOUNT: 'amountCents',
        ACCOUNT: 'accountId',
        [kind.toUpperCase()]: 'id',
      },
      dropFirst: ['ACCOUNT'],
      empty: 'No open reports.',
    }),
    {
      name: `${group} handled`,
      takes: [kind.toUpperCase(), 'REFERENCE'],
      summary: `Mark the reports about one ${kind} as handled, after you booked their money. REFERENCE is yours, such as a ticket`,
      example: `${example} ticket-42`,
      check: ({ positional: [, text = ''] }) => referenceArgument(text),
      async run({ backend, clock }, { positional: [id = '', text = ''] }) {
        const about = { kind, id, reference: referenceArgument(text) }
        const reports = await backend.sql.transaction(tx => resolveAttention(tx, about, clock.now()))
        if (!reports) throw new CommandError(`nothing is open about ${id}: see npx gatewright ${group} list`)
        const ended = reports.map(({ detail, amountCents }) => `${money(amountCents)} (${detail})`)
        return { data: { id, reports }, lines: [`${id} is handled: ${ended.join(', ')}.`] }
      },
    },
  ]
}
