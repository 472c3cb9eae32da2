import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { component, nextCursor } from '@gatewright/host/schemas'
import { type Operation, operation } from '@gatewright/host'
import { deny } from '../../product/denials.ts'
import * as examples from '../examples.ts'
import { cutPage, pagingQuery, readPaging } from '../paging.ts'
import type { ModuleServices } from '../services.ts'
import { createWithdrawal } from './create.ts'
import { withdrawalQuotes } from './quotes.ts'
import { WithdrawalResponse, withdrawalData, withdrawalExample, WithdrawalSchema } from './wire.ts'
import { withdrawalTable } from './withdrawal.ts'

const List = Type.Object(
  { withdrawals: Type.Array(WithdrawalSchema), nextCursor },
  component('WithdrawalList', 'A page of withdrawals, newest first'),
)

/** Makes the operations of withdrawals, if the host has a provider. */
export function withdrawalOperations(services: ModuleServices): Operation[] {
  const provider = services.providers.withdrawals
  if (!provider) return []
  return [
    ...withdrawalQuotes(provider),
    ...(['user', 'partner'] as const).map(surface => createWithdrawal(surface, services, provider)),
    list(services),
    read(services),
  ]
}

function list({ db }: ModuleServices): Operation {
  return operation({
    id: 'withdrawals.list',
    title: 'List withdrawals, newest first',
    surface: 'user',
    method: 'GET',
    paths: ['/user/v1/withdrawals'],
    credential: 'session',
    query: pagingQuery,
    response: List,
    scopes: ['transactions.read'],
    example: { response: { withdrawals: [withdrawalExample], nextCursor: examples.CURSOR } },
    async handle({ caller, facts }) {
      const paging = readPaging(facts.query)
      if (!paging.ok) return paging
      const { after, limit } = paging.value
      const found = await withdrawalTable.page(db, caller.session.accountId, { after, limit: limit + 1 })
      const { items, nextCursor: next } = cutPage(found, limit)
      const data = { withdrawals: items.map(withdrawalData), nextCursor: next }
      return allow({ data, summary: `${items.length} withdrawals.` })
    },
  })
}

function read({ db }: ModuleServices): Operation {
  return operation({
    id: 'withdrawals.read',
    title: 'Read a withdrawal',
    surface: 'user',
    method: 'GET',
    paths: ['/user/v1/withdrawals/{withdrawalId}'],
    credential: 'session',
    scopes: ['transactions.read'],
    response: WithdrawalResponse.user,
    denies: [404],
    example: { response: { withdrawal: withdrawalExample } },
    async handle({ caller, params }) {
      const id = params['withdrawalId'] as string
      const found = await withdrawalTable.find(db, caller.session.accountId, id)
      if (!found) return deny('not_found', 'nothing has this id')
      const data = { withdrawal: withdrawalData(found) }
      return allow({ data, summary: `The withdrawal is ${found.status}.` })
    },
  })
}
