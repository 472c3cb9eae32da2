import type { Surface } from '@gatewright/kernel/internal'
import { type HostServices, type Operation, listOperation, readOperation } from '@gatewright/host'
import type { HostDenial } from '@gatewright/host/internal'
import { component } from '@gatewright/host/schemas'
import { deny } from '../../product/denials.ts'
import { responseExample, CardResponse, cardResponse, cardData, cardExample, CardSchema } from './wire.ts'
import { cards } from './store.ts'

/** The denial of an id without a card of the account. */
export const noSuchCard: HostDenial = deny('not_found', 'no card has this id')
const LIST = {
  user: component('UserCardList', 'Cards that are not canceled'),
  partner: component('CardList', 'A page of cards'),
} as const

/** `cards.list`: users do not see canceled cards, partners do. */
export function listCards(surface: Surface, { db }: Pick<HostServices, 'db'>): Operation {
  return listOperation({
    id: 'cards.list',
    title: 'List the cards, in the order of issue',
    surface,
    path: `/${surface}/v1/cards`,
    scopes: ['cards.read'],
    // Existing wallet clients read only one page, so it must have every card.
    defaultLimit: surface === 'user' ? 100 : 20,
    name: 'cards',
    component: LIST[surface],
    item: CardSchema[surface],
    example: cardExample(surface),
    rows: (accountId, page) => cards.page(db, accountId, { ...page, open: surface === 'user' }),
    write: rows => rows.map(card => cardData(surface, card)),
  })
}

/** `cards.read`. */
export function readCard(surface: Surface, { db }: Pick<HostServices, 'db'>): Operation {
  return readOperation({
    id: 'cards.read',
    title: 'Read a card',
    surface,
    paths: [`/${surface}/v1/cards/{cardId}`],
    scopes: ['cards.read'],
    response: CardResponse[surface] as typeof CardResponse.user,
    example: responseExample(surface),
    notFound: noSuchCard,
    async read({ accountId }, id) {
      const card = await cards.find(db, accountId, id)
      return card && { data: cardResponse(surface, card), summary: 'The card.' }
    },
  })
}
