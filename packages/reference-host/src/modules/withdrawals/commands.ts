import type { HostServices } from '@gatewright/host'
import {
  listCommand,
  type Command,
  CommandError,
  UsageError,
  type CommandArguments,
} from '@gatewright/host/cli'
import { MAX_LISTED, isoOrNull, money } from '@gatewright/host/internal'
import { referenceArgument } from '../command-arguments.ts'
import type { WithdrawalRecords } from './records.ts'
import { withdrawalTable } from './withdrawal.ts'

/** What the commands work with. */
interface WithdrawalCommandServices extends Pick<HostServices, 'backend' | 'clock'> {
  readonly withdrawals: WithdrawalRecords
}

/** Commands on withdrawals. They show no addresses. */
export const commands: readonly Command<WithdrawalCommandServices>[] = [
  listCommand({
    name: 'withdrawals list',
    takes: [],
    flags: { attention: 'only those that need a decision by a person' },
    summary: 'List withdrawals that have not ended or need attention, newest first',
    example: '--attention',
    async rows({ backend }, { flags }) {
      const open = flags.has('attention') ? '' : " or status in ('pending', 'ready')"
      const conditions = `where attention is not null${open} order by position desc limit $1`
      const found = await withdrawalTable.select(backend.sql, conditions, [MAX_LISTED])
      return found.map(({ id, accountId, status, attention, amountCents, excessCents, createdAt }) => ({
        id,
        accountId,
        status,
        attention,
        amountCents,
        excessCents,
        createdAt: isoOrNull(createdAt),
      }))
    },
    columns: {
      CREATED: 'createdAt',
      STATUS: 'status',
      ATTENTION: 'attention',
      AMOUNT: 'amountCents',
      EXCESS: 'excessCents',
      ACCOUNT: 'accountId',
      WITHDRAWAL: 'id',
    },
    dropFirst: ['ACCOUNT', 'EXCESS', 'CREATED'],
    empty: 'No open withdrawals.',
  }),
  {
    name: 'withdrawals resolve',
    takes: ['WITHDRAWAL', 'STATUS', 'REFERENCE'],
    summary:
      'End an open withdrawal as completed or failed, or mark an ended one that needs attention as handled. REFERENCE is yours, such as a ticket',
    example: 'wd_1c6f0f6d0e4b4f3f8a39d3f1bb6c0a52 failed ticket-42',
    confirm:
      'With failed the account gets its money back: first make sure that the provider pays nothing out.',
    check: resolutionOf,
    async subject({ backend }, args) {
      const { id, status } = resolutionOf(args)
      const [found] = await withdrawalTable.select(backend.sql, 'where id = $1', [id])
      if (!found) throw new CommandError(`no withdrawal ${id}: see npx gatewright withdrawals list`)
      const { amountCents, accountId, status: now } = found
      return `Resolve ${id}, ${money(amountCents)} of ${accountId}, which is ${now}, as ${status}.`
    },
    async run({ backend, withdrawals, clock }, args) {
      const { id, status, reference } = resolutionOf(args)
      const resolved = await backend.sql.transaction(tx =>
        withdrawals.resolve(tx, id, { status, reference }, clock.now()),
      )
      if (resolved === 'being_sent')
        throw new CommandError(
          `${id} is being sent at this moment: in half a minute, ask the provider about it again, and repeat the command`,
        )
      if (!resolved)
        throw new CommandError(
          `${id} is not open, and has no attention as ${status}: see npx gatewright withdrawals list`,
        )
      return { data: { id, status, reference }, lines: [`${id} is ${status}.`] }
    },
  },
]

function resolutionOf({ positional: [id = '', status = '', text = ''] }: CommandArguments) {
  if (status !== 'completed' && status !== 'failed')
    throw new UsageError(`STATUS must be completed or failed, got ${JSON.stringify(status)}`)
  return { id, status, reference: referenceArgument(text) } as const
}
