import type { Surface } from '@gatewright/kernel/internal'
import * as Type from 'typebox/type'
import {
  type HostServices,
  type Operation,
  listOperation,
  readOperation,
  type HostDenial,
} from '@gatewright/host'
import { component } from '@gatewright/host/schemas'
import { deny } from '../../product/denials.ts'
import type { Card } from './card.ts'
import { CardResponse, cardData, cardExample, CardSchema } from './wire.ts'
import { spentOfLimits } from './spent.ts'
import { cards } from './store.ts'

/** The denial of an id without a card of the account. */
export const noSuchCard: HostDenial = deny('not_found', 'no card has this id')
const LIST = {
  user: component('UserCardList', 'Cards that are not canceled'),
  partner: component('CardList', 'A page of cards'),
} as const

/** Which key made the cards of a list. */
const MADE_BY = {
  keyLineageId: Type.Optional(
    Type.String({ pattern: '^\\w{1,40}$', description: 'Only cards that this key made: its `lineageId`' }),
  ),
}

/** The example of a card as it is read. */
const readExample = (surface: Surface): never =>
  ({ ...(cardExample(surface) as object), ...(surface === 'user' && { spentCents: 0 }) }) as never
/** The member of a response that has the card: users get it as `card`, partners in `data` itself. */
const inResponse = <T>(surface: Surface, card: T): T | { readonly card: T } =>
  surface === 'user' ? { card } : card

/** Converts cards that are read. Only users see what was spent of each limit. */
async function readData(
  surface: Surface,
  { clock, db }: Pick<HostServices, 'clock' | 'db'>,
  accountId: string,
  found: readonly Card[],
): Promise<Record<string, unknown>[]> {
  if (surface === 'partner') return found.map(card => cardData(surface, card))
  const spent = await spentOfLimits(db, accountId, found, clock.now())
  return found.map(card => ({ ...cardData(surface, card), spentCents: spent.get(card.id) ?? null }))
}

/** `cards.list`: users do not see canceled cards, partners do. */
export function listCards(surface: Surface, services: Pick<HostServices, 'clock' | 'db'>): Operation {
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
    example: readExample(surface),
    ...(surface === 'user' && { filters: MADE_BY }),
    rows: (accountId, page, { query }) =>
      cards.page(services.db, accountId, {
        ...page,
        open: surface === 'user',
        keyLineageId: query.keyLineageId,
      }),
    write: (rows, accountId) => readData(surface, services, accountId, rows),
  })
}

/** `cards.read`. */
export function readCard(surface: Surface, services: Pick<HostServices, 'clock' | 'db'>): Operation {
  return readOperation({
    id: 'cards.read',
    title: 'Read a card',
    surface,
    paths: [`/${surface}/v1/cards/{cardId}`],
    scopes: ['cards.read'],
    response: CardResponse[surface] as typeof CardResponse.user,
    example: inResponse(surface, readExample(surface)),
    notFound: noSuchCard,
    async read({ accountId }, id) {
      const card = await cards.find(services.db, accountId, id)
      const [data] = card ? await readData(surface, services, accountId, [card]) : []
      return data && { data: inResponse(surface, data), summary: 'The card.' }
    },
  })
}
