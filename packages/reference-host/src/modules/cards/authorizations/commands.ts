import type { HostServices } from '@gatewright/host'
import { money } from '@gatewright/host/internal'
import { CommandError, type Command } from '@gatewright/host/cli'
import { attentionCommands } from '../../attention/commands.ts'
import type { Authorizations } from './service.ts'
import { anyAuthorization } from './store.ts'

/** What the commands work with. */
interface AuthorizationCommandServices extends Pick<HostServices, 'backend' | 'clock'> {
  readonly authorizations: Authorizations
}

/** Commands on payments by card. */
export const authorizationCommands: readonly Command<AuthorizationCommandServices>[] = [
  ...attentionCommands('authorization'),
  {
    name: 'authorizations reverse',
    takes: ['AUTHORIZATION'],
    summary:
      'Release the money that a card authorization holds, such as one that the card network has dropped',
    example: 'auth_1c6f0f6d0e4b4f3f8a39d3f1bb6c0a52',
    confirm: 'A clearing that arrives later moves nothing: it is only recorded for review.',
    async subject({ backend }, { positional: [id = ''] }) {
      const row = await anyAuthorization.find(backend.sql, id)
      if (!row) throw new CommandError(`no authorization ${id}`)
      return `Reverse ${id}: ${money(row.heldCents)} of ${row.accountId}, which is ${row.status}.`
    },
    async run({ backend, clock, authorizations }, { positional: [id = ''] }) {
      const { status, amountCents } = await backend.sql.transaction(async tx => {
        const row = await anyAuthorization.lock(tx, id)
        if (!row) throw new CommandError(`no authorization ${id}`)
        if (row.status !== 'authorized') throw new CommandError(`${id} is ${row.status}: it holds nothing`)
        const reversed = await authorizations.reverse(tx, row, { cause: 'operator' }, clock.now())
        return { status: reversed.status, amountCents: row.heldCents }
      })
      return {
        data: { id, status, amountCents },
        lines: [`${id} is ${status}; ${money(amountCents)} are back in the balance.`],
      }
    },
  },
]
