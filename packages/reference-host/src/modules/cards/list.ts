import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import type { TObject } from 'typebox/type'
import { operation, type Example, type Operation } from '../../http/operation.ts'
import { instant, component, nextCursor, text } from '../../schemas/fields.ts'
import * as examples from '../examples.ts'
import { cutPage, pagingQuery, readPaging } from '../paging.ts'
import type { ModuleServices } from '../services.ts'
import { LIMIT_FREQUENCIES, type Card } from './card.ts'

const CardLimit = Type.Object(
  {
    amountCents: Type.Integer({ description: 'What may be spent in one period, in US cents' }),
    frequency: Type.Enum([...LIMIT_FREQUENCIES], { description: 'How often the limit resets' }),
  },
  component('CardLimit', 'How much a card may spend, and how often'),
)
const CardSchema = Type.Object(
  {
    cardId: text('The id of the card'),
    last4: text('The last four digits of its number'),
    status: Type.Enum(['active', 'locked', 'canceled', 'not_activated']),
    limit: Type.Union([CardLimit, Type.Null()], { description: 'Null: no limit for this card' }),
    expirationMonth: Type.Integer({ description: '1 to 12' }),
    expirationYear: Type.Integer({ description: 'Four digits' }),
    createdAt: instant('When it was issued'),
    encryptedName: Type.Null({ description: 'Always null; kept for existing clients' }),
  },
  component('Card', 'A card of the session user. The full number is never part of an answer'),
)
const Answer = Type.Object(
  { cards: Type.Array(CardSchema), nextCursor },
  component('CardList', 'A page of cards'),
)
const example: Example<TObject, typeof Answer> = {
  answer: {
    cards: [
      {
        cardId: 'card_ba30b49c6d3c40fab2f1c1894b801b80',
        last4: '2699',
        status: 'active',
        limit: { amountCents: 161_000, frequency: 'per30DayPeriod' },
        expirationMonth: 4,
        expirationYear: 2028,
        createdAt: examples.AT,
        encryptedName: null,
      },
    ],
    nextCursor: examples.CURSOR,
  },
}

/** `GET /partner/v1/cards`: lists the cards of the session's user, page by page. */
export function listCards({ cards, db }: ModuleServices): Operation {
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
    example,
    async handle({ caller, facts }) {
      const paging = readPaging(facts.query)
      if (!paging.ok) return paging
      const { after, limit } = paging.value
      // One more than the limit, to know whether there is a next page.
      const found = await cards.page(db, caller.session.accountId, { after, limit: limit + 1 })
      const { items, nextCursor } = cutPage(found, limit)
      return allow({
        data: { cards: items.map(cardData), nextCursor },
        summary: `${items.length} cards.`,
      })
    },
  })
}

function cardData(card: Card): Record<string, unknown> {
  const { id, last4, status, limit, expirationMonth, expirationYear, createdAt } = card
  return {
    ...{ cardId: id, last4, status, limit, expirationMonth, expirationYear },
    createdAt: new Date(createdAt).toISOString(),
    encryptedName: null,
  }
}
