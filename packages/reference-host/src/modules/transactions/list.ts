import { allow, type Surface, type Verdict } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { component, nextCursor, text } from '@gatewright/host/schemas'
import { type HostDenial, type Operation, TRANSACTION_TYPES, operation, transactions } from '@gatewright/host'
import { deny } from '../../product/denials.ts'
import { CURSOR } from '../examples.ts'
import { cutPage, pagingQueryUpTo, readPaging } from '../paging.ts'
import type { ModuleServices } from '../services.ts'
import { partnerForm, userForm } from './wire.ts'

/** What differs between the surfaces: the form of a transaction, and how many make a page. */
const FORMS = {
  user: { form: userForm, listName: 'TransactionList', most: 100 },
  partner: { form: partnerForm, listName: 'PartnerTransactionList', most: 200 },
} as const
/** The form of every card id. One of another account finds nothing; a text of another form is a mistake. */
const CARD_ID = /^card_[A-Za-z0-9_-]{1,115}$/
const filters = {
  cardId: Type.Optional(
    Type.String({ pattern: CARD_ID.source, description: 'Only transactions of this card' }),
  ),
  type: Type.Optional(text(`Only these types, with commas between them: ${TRANSACTION_TYPES.join(', ')}`)),
}

/** `GET /user/v1/transactions` and `GET /partner/v1/transactions`: what happened to the money of the account, newest first. */
export function transactionOperations(services: ModuleServices): Operation[] {
  return (['user', 'partner'] as const).map(surface => listTransactions(surface, services))
}

function listTransactions(surface: Surface, { db }: ModuleServices): Operation {
  const { form, listName, most } = FORMS[surface]
  return operation({
    id: 'transactions.list',
    title: 'List the transactions, newest first',
    surface,
    method: 'GET',
    paths: [`/${surface}/v1/transactions`],
    credential: 'session',
    scopes: ['transactions.read'],
    query: Type.Object({ ...pagingQueryUpTo(most).properties, ...filters }),
    response: Type.Object(
      { transactions: Type.Array(form.schema), nextCursor },
      component(listName, 'A page of transactions'),
    ),
    example: { response: { transactions: [form.example], nextCursor: CURSOR } },
    async handle({ caller, facts: { query } }) {
      const paging = readPaging(query, { most })
      if (!paging.ok) return paging
      const types = readTypes(query.get('type'))
      if (!types.ok) return types
      const cardId = query.get('cardId') ?? undefined
      if (cardId !== undefined && !CARD_ID.test(cardId))
        return deny('invalid_request', 'cardId must be the id of a card', { field: 'cardId' })
      const { after, limit } = paging.value
      const filter = { cardId, types: types.value }
      const page = { after, limit: limit + 1 }
      const found = await transactions.page(db, caller.session.accountId, page, filter)
      const { items, nextCursor } = cutPage(found, limit)
      return allow({
        data: { transactions: items.map(form.write), nextCursor },
        summary: `${items.length} transactions.`,
      })
    },
  })
}

type Types = (typeof TRANSACTION_TYPES)[number][]

function readTypes(given: string | null): Verdict<Types | undefined, HostDenial> {
  if (given === null) return allow(undefined)
  const asked = new Set(given.split(','))
  const types = TRANSACTION_TYPES.filter(type => asked.has(type))
  return types.length === asked.size
    ? allow(types)
    : deny('invalid_request', `type must be a comma list of ${TRANSACTION_TYPES.join(', ')}`, {
        field: 'type',
      })
}
