import type { EpochMs } from '@gatewright/kernel'
import { rows, toInteger, type SqlDialect, type SqlQueries, type SqlValue } from '@gatewright/kernel/sql'
import type { EventStore } from '../../records/events.ts'
import { lockAccount } from '../../records/lock-account.ts'
import { ownedRows, type OwnedRows } from '../../records/owned-rows.ts'
import {
  cardColumns,
  toCard,
  type CancelReason,
  type Card,
  type CardChanges,
  type CardStatus,
  type NewCard,
} from './card.ts'

/** The host's card records. Card numbers are never stored. */
export interface CardStore extends Pick<OwnedRows<Card>, 'find' | 'lock'> {
  /** Finds a card of any account: for card networks, which know only the id of the card. */
  findById(db: SqlQueries, id: string): Promise<Card | undefined>
  /** Finds a card of any account and locks it: for events of a card network, where only the id of the card is known. */
  lockById(tx: SqlQueries, id: string): Promise<Card | undefined>
  /** Adds cards to an account, with their first events. Cards whose ids exist already are left out of the result. */
  insert(tx: SqlQueries, accountId: string, cards: readonly NewCard[], now: EpochMs): Promise<Card[]>
  /** Up to `limit` cards of the account after position `after`, in order of issue. `open`: without canceled ones. */
  page(
    db: SqlQueries,
    accountId: string,
    page: { readonly after: number; readonly limit: number; readonly open?: boolean },
  ): Promise<Card[]>
  /** Counts the cards of an account that are not canceled. */
  openCount(db: SqlQueries, accountId: string): Promise<number>
  /** How many of the account's newest cards, at most `most`, were made after an instant. */
  madeAfter(db: SqlQueries, accountId: string, after: EpochMs, most: number): Promise<number>
  /** Changes what has no event. Lock the card before. */
  change(tx: SqlQueries, card: Card, changes: CardChanges): Promise<Card>
  /** Activates or locks a card and writes the event. The same status again changes nothing. Lock the card before. */
  setStatus(tx: SqlQueries, card: Card, to: 'active' | 'locked', now: EpochMs): Promise<Card>
  /** Cancels a card, for good, and writes the event. A canceled card stays as it is. Lock the card before. */
  cancelCard(tx: SqlQueries, card: Card, reason: CancelReason, now: EpochMs): Promise<Card>
}

const NEWEST = 'select coalesce(max(position), 0) as newest from gw_cards where account_id = $1'
const OPEN = "select count(*) as n from gw_cards where account_id = $1 and status <> 'canceled'"

/** Makes the card store of a SQL database. */
export function cardStore(dialect: SqlDialect, events: EventStore): CardStore {
  const { find, lock, insert } = ownedRows(dialect, 'gw_cards', toCard)
  const forUpdate = dialect === 'postgres' ? ' for update' : ''
  const update = async (tx: SqlQueries, card: Card, columns: Record<string, SqlValue>): Promise<Card> => {
    const names = Object.keys(columns)
    if (names.length === 0) return card
    const set = names.map((name, index) => `${name} = $${index + 2}`).join(', ')
    const text = `update gw_cards set ${set} where id = $1 returning *`
    const [row] = await rows(tx, text, [card.id, ...Object.values(columns)])
    return row ? toCard(row) : card
  }
  const record = (
    tx: SqlQueries,
    { id, accountId }: Card,
    change: { readonly from: CardStatus | null; readonly to: CardStatus; readonly cause: string },
    now: EpochMs,
  ): Promise<void> => events.record(tx, { accountId, subject: { kind: 'card', id }, ...change }, now)

  return {
    find,
    lock,
    async findById(db, id) {
      const [row] = await rows(db, 'select * from gw_cards where id = $1', [id])
      return row && toCard(row)
    },
    async lockById(tx, id) {
      const [row] = await rows(tx, `select * from gw_cards where id = $1${forUpdate}`, [id])
      return row && toCard(row)
    },
    async insert(tx, accountId, cards, now) {
      // Positions of one account are given one after the other.
      await lockAccount(tx, dialect, accountId)
      const [newest] = await rows(tx, NEWEST, [accountId])
      let position = toInteger(newest?.['newest'])
      const inserted: Card[] = []
      for (const card of cards) {
        position += 1
        const columns = { ...cardColumns(card), account_id: accountId, position, created_at: now }
        const made = await insert(tx, columns)
        if (!made) continue
        // Nobody asked for a seeded card.
        if (made.keyLineage) await record(tx, made, { from: null, to: made.status, cause: 'issued' }, now)
        inserted.push(made)
      }
      return inserted
    },
    async page(db, accountId, { after, limit, open = false }) {
      const only = open ? " and status <> 'canceled'" : ''
      const text = `select * from gw_cards where account_id = $1 and position > $2${only} order by position limit $3`
      return (await rows(db, text, [accountId, after, limit])).map(toCard)
    },
    async openCount(db, accountId) {
      const [row] = await rows(db, OPEN, [accountId])
      return toInteger(row?.['n'])
    },
    async madeAfter(db, accountId, after, most) {
      const text = `select count(*) as n from
        (select created_at from gw_cards where account_id = $1 order by position desc limit $2) as newest
        where created_at > $3`
      return toInteger((await rows(db, text, [accountId, most, after]))[0]?.['n'])
    },
    change: (tx, card, changes) => update(tx, card, cardColumns(changes)),
    async setStatus(tx, card, to, now) {
      if (card.status === to) return card
      await record(tx, card, { from: card.status, to, cause: 'changed' }, now)
      return update(tx, card, { status: to })
    },
    async cancelCard(tx, card, reason, now) {
      if (card.status === 'canceled') return card
      await record(tx, card, { from: card.status, to: 'canceled', cause: reason }, now)
      return update(tx, card, { status: 'canceled', canceled_at: now, cancel_reason: reason })
    },
  }
}
