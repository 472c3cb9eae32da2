import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { toText } from '@gatewright/kernel/internal/sql'
import type { ApiKey } from '@gatewright/session-issuer'
import type { KeyLineage } from '@gatewright/session-issuer/internal'
import { component, instant, text } from '@gatewright/host/schemas'
import { type HostServices, type Operation, ledgerWrite } from '@gatewright/host'
import * as examples from '../examples.ts'
import type { CancelReason, Card } from './card.ts'
import { noSuchCard } from './read.ts'
import { cards } from './store.ts'
import { responseExample, CardResponse, cardResponse } from './wire.ts'

const Deleted = Type.Object(
  {
    cardId: text('The id of the card'),
    status: Type.Enum(['canceled']),
    deletedAt: instant('When it was canceled'),
  },
  component('DeletedCard', 'A card that was canceled'),
)
const common = { id: 'cards.cancel', title: 'Cancel a card, for good', scopes: ['cards.write'] } as const

/** `cards.cancel` of both surfaces. Canceling a canceled card has the same response. */
export function cancelOperations(services: Pick<HostServices, 'clock'>): Operation[] {
  const { clock } = services
  const cancel = async (tx: SqlQueries, accountId: string, id: string): Promise<Card | undefined> => {
    const card = await cards.lock(tx, accountId, id)
    return card && cards.cancelCard(tx, card, 'user', clock.now())
  }
  return [
    ledgerWrite({
      ...common,
      surface: 'user',
      method: 'POST',
      credential: 'session',
      spends: false,
      paths: ['/user/v1/cards/{cardId}/delete-now'],
      response: CardResponse.user,
      example: { response: responseExample('user') },
      denies: [404],
      async write({ caller: { session }, params }, { tx }) {
        const card = await cancel(tx, session.accountId, params['cardId'] as string)
        return card
          ? allow({ data: cardResponse('user', card), summary: 'The card is canceled.' })
          : noSuchCard
      },
    }),
    ledgerWrite({
      ...common,
      surface: 'partner',
      method: 'DELETE',
      credential: 'session',
      spends: false,
      paths: ['/partner/v1/cards/{cardId}'],
      idempotency: 'none',
      response: Deleted,
      example: {
        response: {
          cardId: 'card_ba30b49c6d3c40fab2f1c1894b801b80',
          status: 'canceled',
          deletedAt: examples.AT,
        },
      },
      denies: [404],
      async write({ caller: { session }, params }, { tx }) {
        const card = await cancel(tx, session.accountId, params['cardId'] as string)
        if (!card) return noSuchCard
        const { id: cardId, status, canceledAt, createdAt } = card
        // A seeded card can be canceled from its creation on.
        const deletedAt = new Date(canceledAt ?? createdAt).toISOString()
        return allow({ data: { cardId, status, deletedAt }, summary: 'The card is canceled.' })
      },
    }),
  ]
}

const OPEN_BY_KEY = `select account_id, id from gw_cards
  where key_account_id = $1 and key_lineage_id = $2 and status <> 'canceled' order by id`

/** Cancels the open cards that keys of these lineages made, each in a separate transaction. Returns how many. */
export async function cancelCardsOf(
  db: SqlClient,
  lineages: readonly KeyLineage[],
  { reason, now }: { readonly reason: CancelReason; readonly now: number },
): Promise<number> {
  let canceled = 0
  for (const { accountId, lineageId } of lineages) {
    for (const row of await rows(db, OPEN_BY_KEY, [accountId, lineageId])) {
      const done = await db.transaction(async tx => {
        const card = await cards.lock(tx, toText(row['account_id']), toText(row['id']))
        if (!card || card.status === 'canceled') return false
        await cards.cancelCard(tx, card, reason, now)
        return true
      })
      if (done) canceled += 1
    }
  }
  return canceled
}

/** Returns the lineages of a key and of the keys below it, without repeats; none for an unknown key. */
export function lineagesFrom(
  keys: readonly Pick<ApiKey, 'id' | 'accountId' | 'lineageId' | 'ancestry'>[],
  keyId: string,
): KeyLineage[] {
  const top = keys.find(({ id }) => id === keyId)
  if (!top) return []
  const below = keys.filter(({ ancestry }) => ancestry.includes(top.lineageId))
  const lineages = new Set([top, ...below].map(({ lineageId }) => lineageId))
  return [...lineages].map(lineageId => ({ accountId: top.accountId, lineageId }))
}
