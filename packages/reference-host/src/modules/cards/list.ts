import { allow } from '@gatewright/kernel'
import { operation, type Operation } from '../../server/operation.ts'
import { nextCursor, readPaging } from '../paging.ts'
import type { ModuleServices } from '../services.ts'
import type { Card } from './store.ts'

/** `GET /partner/v1/cards`: the session user's cards, a page at a time. */
export function listCards({ cards }: ModuleServices): Operation {
  return operation({
    id: 'cards.list',
    surface: 'partner',
    method: 'GET',
    paths: ['/partner/v1/cards'],
    credential: 'session',
    scopes: ['cards.read'],
    async handle({ caller, facts }) {
      const paging = readPaging(facts.query)
      if (!paging.ok) return paging
      const { after, limit } = paging.value
      // One more than asked tells whether there is a next page.
      const found = await cards.page(caller.session.accountId, after, limit + 1)
      const page = found.slice(0, limit)
      const last = page.at(-1)
      return allow({
        data: {
          cards: page.map(partnerCard),
          nextCursor: found.length > limit && last ? nextCursor(last.position) : null,
        },
        summary: `${page.length} cards.`,
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
