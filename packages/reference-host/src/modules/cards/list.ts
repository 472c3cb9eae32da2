import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { operation, type Operation } from '../../server/operation.ts'
import { cutPage, pagingQuery, readPaging } from '../paging.ts'
import type { ModuleServices } from '../services.ts'
import { LIMIT_FREQUENCIES, type Card } from './store.ts'

const Answer = Type.Object({
  cards: Type.Array(
    Type.Object({
      cardId: Type.String(),
      last4: Type.String(),
      status: Type.Enum(['active', 'locked', 'canceled', 'not_activated']),
      limit: Type.Union([
        Type.Object({ amountCents: Type.Integer(), frequency: Type.Enum([...LIMIT_FREQUENCIES]) }),
        Type.Null(),
      ]),
      expirationMonth: Type.Integer(),
      expirationYear: Type.Integer(),
      createdAt: Type.String({ format: 'date-time' }),
      encryptedName: Type.Null(),
    }),
  ),
  nextCursor: Type.Union([Type.String(), Type.Null()]),
})

/** `GET /partner/v1/cards`: the session user's cards, a page at a time. */
export function listCards({ cards }: ModuleServices): Operation {
  return operation({
    id: 'cards.list',
    title: 'List the cards of the session user',
    surface: 'partner',
    method: 'GET',
    paths: ['/partner/v1/cards'],
    credential: 'session',
    scopes: ['cards.read'],
    query: pagingQuery,
    answer: Answer,
    async handle({ caller, facts }) {
      const paging = readPaging(facts.query)
      if (!paging.ok) return paging
      const { after, limit } = paging.value
      // One more than asked tells whether there is a next page.
      const found = await cards.page(caller.session.accountId, after, limit + 1)
      const { items, nextCursor } = cutPage(found, limit)
      return allow({
        data: { cards: items.map(partnerCard), nextCursor },
        summary: `${items.length} cards.`,
      })
    },
  })
}

function partnerCard(card: Card): Record<string, unknown> {
  const { id, last4, status, limit, expirationMonth, expirationYear, createdAt } = card
  return {
    ...{ cardId: id, last4, status, limit, expirationMonth, expirationYear },
    createdAt: new Date(createdAt).toISOString(),
    encryptedName: null,
  }
}
