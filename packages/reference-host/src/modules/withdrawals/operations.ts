import { type HostServices, type Operation, listOperation, readOperation } from '@gatewright/host'
import { component } from '@gatewright/host/schemas'
import { type CreateWithdrawalServices, createWithdrawal } from './create.ts'
import { withdrawalQuotes } from './quotes.ts'
import { WithdrawalResponse, withdrawalData, withdrawalExample, WithdrawalSchema } from './wire.ts'
import { withdrawalTable } from './withdrawal.ts'
import type { WithdrawalProvider } from '../../providers/withdrawals/port.ts'

/** What the operations of withdrawals work with. */
interface WithdrawalServices extends CreateWithdrawalServices {
  readonly providers: { readonly withdrawals?: WithdrawalProvider }
}

/** Makes the operations of withdrawals, if the host has a provider. */
export function withdrawalOperations(services: WithdrawalServices): Operation[] {
  const provider = services.providers.withdrawals
  if (!provider) return []
  return [
    ...withdrawalQuotes(provider),
    ...(['user', 'partner'] as const).map(surface => createWithdrawal(surface, services, provider)),
    list(services),
    read(services),
  ]
}

function list({ db }: Pick<HostServices, 'db'>): Operation {
  return listOperation({
    id: 'withdrawals.list',
    title: 'List withdrawals, newest first',
    path: '/user/v1/withdrawals',
    scopes: ['transactions.read'],
    byCreation: true,
    name: 'withdrawals',
    component: component('WithdrawalList', 'A page of withdrawals, newest first'),
    item: WithdrawalSchema,
    example: withdrawalExample,
    rows: (accountId, page) => withdrawalTable.page(db, accountId, page),
    write: rows => rows.map(withdrawalData),
  })
}

function read({ db }: Pick<HostServices, 'db'>): Operation {
  return readOperation({
    id: 'withdrawals.read',
    title: 'Read a withdrawal',
    paths: ['/user/v1/withdrawals/{withdrawalId}'],
    scopes: ['transactions.read'],
    response: WithdrawalResponse.user,
    example: { withdrawal: withdrawalExample },
    async read({ accountId }, id) {
      const found = await withdrawalTable.find(db, accountId, id)
      return (
        found && {
          data: { withdrawal: withdrawalData(found) },
          summary: `The withdrawal is ${found.status}.`,
        }
      )
    },
  })
}
