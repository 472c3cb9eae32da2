import type { Surface } from '@gatewright/kernel/internal'
import * as Type from 'typebox/type'
import { type HostServices, type Operation, listOperation, transactions } from '@gatewright/host'
import { TRANSACTION_TYPES } from '@gatewright/host/internal'
import { component } from '@gatewright/host/schemas'
import { partnerForm, userForm } from './wire.ts'

/** The differences between the surfaces: the form of a transaction, and the size of a page. */
const FORMS = {
  user: { form: userForm, listName: 'TransactionList', most: 100 },
  partner: { form: partnerForm, listName: 'PartnerTransactionList', most: 200 },
} as const
const types = TRANSACTION_TYPES.join(', ')
const filters = {
  cardId: Type.Optional(
    Type.String({
      // The form of every card id. One of another account finds nothing; a text of another form is a mistake.
      pattern: '^card_[A-Za-z0-9_-]{1,115}$',
      description: 'Only transactions of this card',
      expected: 'must be the id of a card',
    }),
  ),
  type: Type.Optional(
    Type.Array(Type.Enum([...TRANSACTION_TYPES]), {
      description: `Only these types, with commas between them: ${types}`,
      expected: `must be a comma list of ${types}`,
    }),
  ),
}

/** `GET /user/v1/transactions` and `GET /partner/v1/transactions`: lists the transactions of the account, newest first. */
export function transactionOperations(services: Pick<HostServices, 'db'>): Operation[] {
  return (['user', 'partner'] as const).map(surface => listTransactions(surface, services))
}

function listTransactions(surface: Surface, { db }: Pick<HostServices, 'db'>): Operation {
  const { form, listName, most } = FORMS[surface]
  return listOperation({
    id: 'transactions.list',
    title: 'List the transactions, newest first',
    surface,
    path: `/${surface}/v1/transactions`,
    scopes: ['transactions.read'],
    most,
    filters,
    name: 'transactions',
    component: component(listName, 'A page of transactions'),
    item: form.schema,
    example: form.example,
    rows(accountId, page, { query: { cardId, type } }) {
      const types = type && TRANSACTION_TYPES.filter(each => type.includes(each))
      return transactions.page(db, accountId, page, { cardId, types })
    },
    write: rows => rows.map(form.write),
  })
}
