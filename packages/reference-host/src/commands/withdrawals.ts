import { rows } from '@gatewright/kernel/sql'
import { type Command, UsageError, referenceArgument } from '@gatewright/host/cli'
import type { Services } from '../services/services.ts'

/** How many withdrawals `withdrawals list` prints at most. */
const MOST = 1000

/** Commands on withdrawals. They show no addresses. */
export const withdrawalCommands: readonly Command<Services>[] = [
  {
    name: 'withdrawals list',
    takes: [],
    flags: { attention: 'only those that a person must look at' },
    summary: 'List withdrawals that have not ended or need attention, newest first',
    example: '--attention',
    async run({ backend }, { flags }) {
      const open = flags.has('attention') ? '' : " or status in ('pending', 'ready')"
      const text = `select id, account_id, status, attention, amount_cents, excess_cents, created_at
        from gw_withdrawals where attention is not null${open} order by position desc limit $1`
      const data = (await rows(backend.sql, text, [MOST])).map(row => ({
        id: String(row['id']),
        accountId: String(row['account_id']),
        status: String(row['status']),
        attention: row['attention'] as string | null,
        amountCents: Number(row['amount_cents']),
        excessCents: Number(row['excess_cents']),
        createdAt: new Date(Number(row['created_at'])).toISOString(),
      }))
      const entries = data.map(each => [
        each.createdAt,
        each.status,
        each.attention ?? '-',
        `${each.amountCents}`,
        `${each.excessCents}`,
        each.accountId,
        each.id,
      ])
      const head = ['CREATED', 'STATUS', 'ATTENTION', 'CENTS', 'EXCESS', 'ACCOUNT', 'WITHDRAWAL']
      return { data, table: [head, ...entries], empty: 'No such withdrawals.' }
    },
  },
  {
    name: 'withdrawals resolve',
    takes: ['WITHDRAWAL', 'STATUS', 'REFERENCE'],
    summary:
      'End an open withdrawal as completed or failed, or mark the attention of an ended one as handled',
    example: 'wd_1c6f0f6d0e4b4f3f8a39d3f1bb6c0a52 failed ticket-42',
    confirm:
      'With failed the account gets its money back: first make sure that the provider pays nothing out.',
    async run({ backend, withdrawals, clock }, { positional: [id = '', status = '', text = ''] }) {
      if (status !== 'completed' && status !== 'failed')
        throw new UsageError('STATUS must be completed or failed')
      const reference = referenceArgument(text)
      const resolved = await backend.sql.transaction(tx =>
        withdrawals.resolve(tx, id, { status, reference }, clock.now()),
      )
      if (resolved === 'being_sent')
        throw new UsageError(
          `${id} is being sent at this moment: in half a minute, ask the provider about it again, and repeat the command`,
        )
      if (!resolved)
        throw new UsageError(
          `${id} is not open, and has no attention as ${status}: see gatewright withdrawals list`,
        )
      return { data: { id, status, reference }, lines: [`${id} is ${status}.`] }
    },
  },
]
