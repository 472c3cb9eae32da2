import * as Type from 'typebox/type'
import type { Static } from 'typebox/type'
import { TRANSACTION_STATUSES, TRANSACTION_TYPES } from '@gatewright/host/internal'
import type { TransactionFilter } from '@gatewright/host'
import { searchFilter, searchOf } from '../search.ts'

const types = TRANSACTION_TYPES.join(', ')
const statuses = TRANSACTION_STATUSES.join(', ')
const KEY_ID = '^[A-Za-z0-9_-]{1,120}$'

/** The kind of the business object of a transaction, by how its ids begin. */
const KINDS = {
  auth_: 'authorization',
  bill_: 'bill',
  dep_: 'deposit',
  move_: 'move',
  payin_: 'payin',
  pay_: 'payment',
  wd_: 'withdrawal',
} as const

/** Schema of a query parameter that chooses by key. */
export const keyIdFilter = (description: string) =>
  Type.Optional(Type.String({ pattern: KEY_ID, description, expected: 'must be the id of a key' }))

/** The query parameter that chooses by the key that caused a row. */
export const keyFilter = keyIdFilter(
  'Only those that this API key caused. For payments by card: the key that made the card, or the first one if that key was rotated',
)

/** The form of ids that name a transaction or its business object. */
const ID = `^(?:txn_|${Object.keys(KINDS).join('|')})[A-Za-z0-9_-]{1,110}$`

/** The query parameters that choose transactions. */
export const transactionFilters = {
  id: Type.Optional(
    Type.String({
      pattern: ID,
      description:
        'Only the transaction with this id, or those of the payment, pay-in, deposit, withdrawal, bill or card authorization with this id',
      expected: `must be an id that begins with txn_, ${Object.keys(KINDS).join(', ')}`,
    }),
  ),
  cardId: Type.Optional(
    Type.String({
      // The form of every card id. One of another account finds nothing; a text of another form is a mistake.
      pattern: '^card_[A-Za-z0-9_-]{1,115}$',
      description: 'Only transactions of this card',
      expected: 'must be the id of a card',
    }),
  ),
  keyId: keyFilter,
  q: searchFilter,
  type: Type.Optional(
    Type.Array(Type.Enum([...TRANSACTION_TYPES]), {
      description: `Only these types, with commas between them: ${types}`,
      expected: `must be a comma list of ${types}`,
    }),
  ),
  status: Type.Optional(
    Type.Array(Type.Enum([...TRANSACTION_STATUSES]), {
      description: `Only these statuses, with commas between them: ${statuses}`,
      expected: `must be a comma list of ${statuses}`,
    }),
  ),
}
const Filters = Type.Object(transactionFilters)

function matcherOf(q: string): TransactionFilter['matches'] {
  const found = searchOf(q)
  return ({ id, source, amountCents, description, counterparty, memo, merchant, cardId }) =>
    found({
      ids: [id, source.id, cardId],
      amountCents,
      texts: [description, counterparty, memo, merchant?.name, merchant?.city],
    })
}

/** Reads the query parameters that choose transactions. A value that a list repeats counts once. */
export function filterOf({
  cardId,
  keyId,
  q,
  type,
  status,
  ...given
}: Static<typeof Filters>): TransactionFilter {
  // An id is found by its index, however old it is.
  const searchedId = q !== undefined && new RegExp(ID).test(q.trim()) ? q.trim() : undefined
  const id = given.id ?? searchedId
  const kind = Object.entries(KINDS).find(([prefix]) => id?.startsWith(prefix))?.[1]
  return {
    ...(id === undefined ? {} : kind ? { source: { kind, id } } : { id }),
    cardId,
    keyId,
    types: type && TRANSACTION_TYPES.filter(each => type.includes(each)),
    matches: q === undefined ? undefined : matcherOf(q),
    statuses: status && TRANSACTION_STATUSES.filter(each => status.includes(each)),
  }
}
