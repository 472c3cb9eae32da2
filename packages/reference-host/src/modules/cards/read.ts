import { allow, type Surface } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { deny, type HostDenial } from '../../http/codes.ts'
import { operation, type Operation } from '../../http/operation.ts'
import * as examples from '../examples.ts'
import { cutPage, pagingQuery, readPaging } from '../paging.ts'
import type { ModuleServices } from '../services.ts'
import { responseExample, CardResponse, cardResponse, cardData, cardExample, CardList } from './wire.ts'
import { cards } from './store.ts'

/** The denial of an id without a card of the account. */
export const noSuchCard: HostDenial = deny('not_found', 'no card has this id')
/** Existing wallet clients read only one page, so it must have every card. */
const USER_LIMIT = 100
const userQuery = Type.Object({
  ...pagingQuery.properties,
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 100, description: 'Most items of a page' }),
  ),
})

/** `cards.list`: users do not see canceled cards, partners do. */
export function listCards(surface: Surface, { db }: ModuleServices): Operation {
  return operation({
    id: 'cards.list',
    title: 'List the cards, in the order of issue',
    surface,
    method: 'GET',
    paths: [`/${surface}/v1/cards`],
    credential: 'session',
    scopes: ['cards.read'],
    query: surface === 'user' ? userQuery : pagingQuery,
    response: CardList[surface],
    example: {
      response: { cards: [cardExample(surface)], nextCursor: surface === 'user' ? null : examples.CURSOR },
    },
    async handle({ caller, facts }) {
      const paging = readPaging(facts.query, surface === 'user' ? { defaultLimit: USER_LIMIT } : {})
      if (!paging.ok) return paging
      const { after, limit } = paging.value
      // One more than the limit, to know whether there is a next page.
      const page = { after, limit: limit + 1, open: surface === 'user' }
      const { items, nextCursor } = cutPage(await cards.page(db, caller.session.accountId, page), limit)
      return allow({
        data: { cards: items.map(card => cardData(surface, card)), nextCursor },
        summary: `${items.length} cards.`,
      })
    },
  })
}

/** `cards.read`. */
export function readCard(surface: Surface, { db }: ModuleServices): Operation {
  return operation({
    id: 'cards.read',
    title: 'Read a card',
    surface,
    method: 'GET',
    paths: [`/${surface}/v1/cards/{cardId}`],
    credential: 'session',
    scopes: ['cards.read'],
    response: CardResponse[surface] as typeof CardResponse.user,
    example: { response: responseExample(surface) },
    denies: [404],
    async handle({ caller, params }) {
      const card = await cards.find(db, caller.session.accountId, params['cardId'] as string)
      if (!card) return noSuchCard
      return allow({ data: cardResponse(surface, card), summary: 'The card.' })
    },
  })
}
