import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import type { PageOf } from '@gatewright/host/tables'
import { events } from '@gatewright/host'
import { addObject, objectsOfAnyAccount } from '../../product/provider-objects.ts'
import { lockAccount } from '../users/lock-account.ts'
import {
  cardTable,
  type CancelReason,
  type Card,
  type CardChanges,
  type CardStatus,
  type LockReason,
  type NewCard,
} from './card.ts'

const NEWEST = 'select coalesce(max(position), 0) as newest from gw_cards where account_id = $1'
const MADE_AFTER = `select count(*) as n from
  (select created_at from gw_cards where account_id = $1 order by position desc limit $2) as newest
  where created_at > $3`
const OPEN = "status <> 'canceled'"

const record = (
  tx: SqlQueries,
  { id, accountId }: Card,
  change: { readonly from: CardStatus | null; readonly to: CardStatus; readonly cause: string },
  now: EpochMs,
): Promise<void> => events.record(tx, { accountId, subject: { kind: 'card', id }, ...change }, now)

interface CardPage extends PageOf {
  readonly open?: boolean
  readonly keyLineageId?: string | undefined
}

/** The host's card records, and their events. */
export const cards = {
  find: cardTable.find,
  lock: cardTable.lock,
  /** Access without an account, for card networks, which know only the id of a card. */
  anyAccount: objectsOfAnyAccount('card', cardTable),
  /** Adds cards to an account, with their first events. A card whose id exists already is skipped and not returned. */
  async insert(tx: SqlQueries, accountId: string, added: readonly NewCard[], now: EpochMs): Promise<Card[]> {
    // The lock makes simultaneous calls number the cards of an account one after the other.
    await lockAccount(tx, accountId)
    const [newest] = await rows(tx, NEWEST, [accountId])
    let position = toInteger(newest?.['newest'])
    const inserted: Card[] = []
    for (const card of added) {
      position += 1
      const made = await cardTable.insert(tx, { ...card, accountId, position, createdAt: now })
      if (!made) continue
      await addObject(tx, 'card', made)
      // A seeded card was not requested, so it has no event.
      if (made.keyLineage) await record(tx, made, { from: null, to: made.status, cause: 'issued' }, now)
      inserted.push(made)
    }
    return inserted
  },
  /** A page of the account's cards, in order of issue. `open`: without canceled ones. `keyLineageId`: only those that this key made. */
  page(
    db: SqlQueries,
    accountId: string,
    { after, limit, open = false, keyLineageId }: CardPage,
  ): Promise<Card[]> {
    const made = keyLineageId === undefined ? 'true' : 'key_account_id = $1 and key_lineage_id = $4'
    const conditions = `where account_id = $1 and position > $2 and ${open ? OPEN : 'true'} and ${made} order by position limit $3`
    const more = keyLineageId === undefined ? [] : [keyLineageId]
    return cardTable.select(db, conditions, [accountId, after, limit, ...more])
  },
  /** Finds cards of any account by their last four digits, the newest first. For operators. */
  withLast4: (db: SqlQueries, last4: string, limit: number): Promise<Card[]> =>
    cardTable.select(db, 'where last4 = $1 order by created_at desc, id limit $2', [last4, limit]),
  /** Counts the cards of an account that are not canceled. */
  openCount: (db: SqlQueries, accountId: string): Promise<number> => cardTable.count(db, accountId, OPEN),
  /** Returns how many of the account's newest `most` cards were made after an instant. */
  async madeAfter(db: SqlQueries, accountId: string, after: EpochMs, most: number): Promise<number> {
    return toInteger((await rows(db, MADE_AFTER, [accountId, most, after]))[0]?.['n'])
  },
  /** Changes members whose changes need no event. Lock the card before. */
  change: (tx: SqlQueries, card: Card, changes: CardChanges): Promise<Card> =>
    cardTable.update(tx, card, changes),
  /** Activates a card and writes the event. An active card is unchanged. Lock its row before. */
  async activateCard(tx: SqlQueries, card: Card, now: EpochMs): Promise<Card> {
    if (card.status === 'active') return card
    await record(tx, card, { from: card.status, to: 'active', cause: 'changed' }, now)
    return cardTable.update(tx, card, { status: 'active', lockReason: null })
  },
  /** Locks a card, so that nobody pays with it, and writes the event. A locked card is unchanged. Lock its row before. */
  async lockCard(tx: SqlQueries, card: Card, reason: LockReason, now: EpochMs): Promise<Card> {
    if (card.status === 'locked') return card
    const cause = reason === 'user' ? 'changed' : reason
    await record(tx, card, { from: card.status, to: 'locked', cause }, now)
    return cardTable.update(tx, card, { status: 'locked', lockReason: reason })
  },
  /** Cancels a card, for good, and writes the event. A canceled card is unchanged. Lock the card before. */
  async cancelCard(tx: SqlQueries, card: Card, reason: CancelReason, now: EpochMs): Promise<Card> {
    if (card.status === 'canceled') return card
    await record(tx, card, { from: card.status, to: 'canceled', cause: reason }, now)
    return cardTable.update(tx, card, {
      status: 'canceled',
      canceledAt: now,
      cancelReason: reason,
      lockReason: null,
    })
  },
}
