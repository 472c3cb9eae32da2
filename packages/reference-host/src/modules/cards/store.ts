import { randomUUID } from 'node:crypto'
import type { EpochMs } from '@gatewright/kernel'
import { rows, toInteger, toText, type SqlClient, type SqlQueries, type SqlRow } from '@gatewright/kernel/sql'

/** How often a card's limit resets (contract section 10). */
export const LIMIT_FREQUENCIES = [
  'perAuthorization',
  'per24HourPeriod',
  'per7DayPeriod',
  'per30DayPeriod',
  'perYearPeriod',
  'allTime',
] as const

/** The details of a new card. */
export interface NewCard {
  readonly last4: string
  readonly status: 'active' | 'locked' | 'canceled' | 'not_activated'
  readonly limit: { readonly amountCents: number; readonly frequency: string } | null
  readonly expirationMonth: number
  readonly expirationYear: number
}

/** A card of an account. `position` counts from 1 in the order of issue. */
export interface Card extends NewCard {
  readonly id: string
  readonly position: number
  readonly createdAt: EpochMs
}

/** The host's card records. Card numbers are never stored. */
export interface CardStore {
  /** Adds cards to an account that has none. */
  insert(tx: SqlQueries, accountId: string, cards: readonly NewCard[], now: EpochMs): Promise<void>
  /** Up to `limit` cards of the account after position `after`, in order. */
  page(accountId: string, after: number, limit: number): Promise<Card[]>
}

function toCard(row: SqlRow): Card {
  const limit = row['limit_cents']
  return {
    id: toText(row['id']),
    position: toInteger(row['position']),
    last4: toText(row['last4']),
    status: toText(row['status']) as Card['status'],
    limit:
      limit === null ? null : { amountCents: toInteger(limit), frequency: toText(row['limit_frequency']) },
    expirationMonth: toInteger(row['expiration_month']),
    expirationYear: toInteger(row['expiration_year']),
    createdAt: toInteger(row['created_at']),
  }
}

/** Creates the card store over SQL. */
export function cardStore(db: SqlClient): CardStore {
  return {
    async insert(tx, accountId, cards, now) {
      for (const [index, card] of cards.entries()) {
        await rows(
          tx,
          `insert into gw_cards (id, account_id, position, last4, status, limit_cents, limit_frequency,
            expiration_month, expiration_year, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
          [
            ...[`card_${randomUUID().replaceAll('-', '')}`, accountId, index + 1, card.last4, card.status],
            ...[card.limit?.amountCents ?? null, card.limit?.frequency ?? null],
            ...[card.expirationMonth, card.expirationYear, now],
          ],
        )
      }
    },
    async page(accountId, after, limit) {
      const found = await rows(
        db,
        'select * from gw_cards where account_id = $1 and position > $2 order by position limit $3',
        [accountId, after, limit],
      )
      return found.map(toCard)
    },
  }
}
