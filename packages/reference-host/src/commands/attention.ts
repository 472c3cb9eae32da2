import { type Command, UsageError, referenceArgument } from '@gatewright/host/cli'
import { openReports, resolveAttention, type ReportedKind } from '../operator/attention.ts'
import type { Services } from '../services/services.ts'

/** How many reports a list prints at most. */
const MOST = 1000

/** The differences between the kinds: the title of the column with the reported money, and the id in examples. */
const KINDS = {
  authorization: { column: 'REASON', example: 'auth_1c6f0f6d0e4b4f3f8a39d3f1bb6c0a52' },
  deposit: { column: 'PAYMENT', example: 'dep_1c6f0f6d0e4b4f3f8a39d3f1bb6c0a52' },
} as const

/** The commands on reported money that could not be moved: list it, and mark it as handled. */
export function attentionCommands(kind: ReportedKind): readonly Command<Services>[] {
  const group = `${kind}s`
  const { column, example } = KINDS[kind]
  return [
    {
      name: `${group} list`,
      takes: [],
      summary: `List reports about ${group} whose money could not be moved, newest first`,
      example: '',
      async run({ backend }) {
        const data = (await openReports(backend.sql, kind, MOST)).map(({ at, ...report }) => ({
          at: new Date(at).toISOString(),
          ...report,
        }))
        const entries = data.map(({ at, detail, amountCents, accountId, id }) => [
          at,
          detail,
          `${amountCents}`,
          accountId,
          id,
        ])
        const table = [['AT', column, 'CENTS', 'ACCOUNT', kind.toUpperCase()], ...entries]
        return { data, table, empty: 'No such reports.' }
      },
    },
    {
      name: `${group} handled`,
      takes: [kind.toUpperCase(), 'REFERENCE'],
      summary: `Mark the reports about one ${kind} as handled, after their money was booked`,
      example: `${example} ticket-42`,
      async run({ backend, clock }, { positional: [id = '', text = ''] }) {
        const about = { kind, id, reference: referenceArgument(text) }
        const reports = await backend.sql.transaction(tx => resolveAttention(tx, about, clock.now()))
        if (!reports) throw new UsageError(`nothing is open about ${id}: see gatewright ${group} list`)
        const ended = reports.map(({ detail, amountCents }) => `${amountCents} US cents (${detail})`)
        return { data: { id, reports }, lines: [`${id} is handled: ${ended.join(', ')}.`] }
      },
    },
  ]
}
