import type { HostServices } from '@gatewright/host'
import { type Command, CommandError, money } from '@gatewright/host/internal'
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
      return `Reverse ${id}: ${money(row.amountCents)} of ${row.accountId}, which is ${row.status}.`
    },
    async run({ backend, clock, authorizations }, { positional: [id = ''] }) {
      const { amountCents } = await backend.sql.transaction(async tx => {
        const row = await anyAuthorization.lock(tx, id)
        if (!row) throw new CommandError(`no authorization ${id}`)
        if (row.status !== 'authorized') throw new CommandError(`${id} is ${row.status}: it holds nothing`)
        return authorizations.reverse(tx, row, 'operator', clock.now())
      })
      const data = { id, status: 'reversed', amountCents }
      return { data, lines: [`${id} is reversed; ${money(amountCents)} are back in the balance.`] }
    },
  },
]
