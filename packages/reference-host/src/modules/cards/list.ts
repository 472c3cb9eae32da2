import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import type { TObject } from 'typebox/type'
import { operation, type Example, type Operation } from '../../server/operation.ts'
import * as examples from '../examples.ts'
import { cutPage, pagingQuery, readPaging } from '../paging.ts'
import type { ModuleServices } from '../services.ts'
import { instant, named, nextCursor, text } from '../shapes.ts'
import { LIMIT_FREQUENCIES, type Card } from './store.ts'

const CardLimit = Type.Object(
  {
    amountCents: Type.Integer({ description: 'What may be spent in one period, in US cents' }),
    frequency: Type.Enum([...LIMIT_FREQUENCIES], { description: 'How often the limit starts anew' }),
  },
  named('CardLimit', 'How much a card may spend, and how often'),
)
const CardShape = Type.Object(
  {
    cardId: text('Names the card in this API'),
    last4: text('The last four digits of its number'),
    status: Type.Enum(['active', 'locked', 'canceled', 'not_activated']),
    limit: Type.Union([CardLimit, Type.Null()], { description: 'Null: no limit of its own' }),
    expirationMonth: Type.Integer({ description: '1 to 12' }),
    expirationYear: Type.Integer({ description: 'Four digits' }),
    createdAt: instant('When it was issued'),
    encryptedName: Type.Null({ description: 'Kept for clients that read it' }),
  },
  named('Card', 'A card of the session user. The full number is never answered'),
)
const Answer = Type.Object({ cards: Type.Array(CardShape), nextCursor }, named('CardList', 'A page of cards'))
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
    example,
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
