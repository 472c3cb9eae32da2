import type { EpochMs } from '@gatewright/kernel/internal'
import type { SqlQueries } from '@gatewright/kernel/sql'
import { type Money, events } from '@gatewright/host'
import { type Debit, type NewEvent, type TransactionEntry, ledgerAccounts } from '@gatewright/host/internal'
import { systemAccounts } from '../../../product/system-accounts.ts'
import { endHolds, type CapServices } from './end-holds.ts'
import { mayMove } from './states.ts'
import { authorizationTable, type Attention, type Authorization, type AuthorizationChanges } from './store.ts'

/** The services that clearings, reversals and refunds use. */
interface EndingServices extends CapServices {
  readonly money: Money
}

/** Why a payment is reversed. `unavailable`: the host had already responded that it could not decide. */
type ReversalCause = 'reversed' | 'operator' | 'unavailable'

/** Money that a merchant pays back. Each refund id of an authorization is credited once, ever. */
interface Refund {
  readonly id: string
  readonly amountCents: number
}

/**
 * What happens to an authorization after its decision. Lock it before. Money beyond the hold, or beyond what cleared, cannot
 * move: the row stores it as excess, with `attention`, for the operator to book. Each function returns the same row object if
 * it changes nothing.
 */
export interface AuthorizationEndings {
  /** Pays the merchant up to the hold and returns the rest. */
  clear(tx: SqlQueries, row: Authorization, amountCents: number, now: EpochMs): Promise<Authorization>
  /** Returns the whole hold. An authorization without a hold is unchanged. */
  reverse(tx: SqlQueries, row: Authorization, cause: ReversalCause, now: EpochMs): Promise<Authorization>
  /** Credits a refund, up to what cleared and was not refunded yet. */
  refund(tx: SqlQueries, row: Authorization, refund: Refund, now: EpochMs): Promise<Authorization>
}

/** Makes the functions that end authorizations. */
export function endings(services: EndingServices): AuthorizationEndings {
  const { money } = services

  /** Changes the row and records the event. */
  const change = async (
    tx: SqlQueries,
    row: Authorization,
    changes: AuthorizationChanges,
    {
      now,
      ...why
    }: Pick<NewEvent, 'cause' | 'detail' | 'keep'> & { readonly amountCents: number; readonly now: EpochMs },
  ): Promise<Authorization> => {
    const changed = await authorizationTable.update(tx, row, changes)
    const { accountId, id, status: to } = changed
    const subject = { kind: 'authorization', id }
    await events.record(tx, { accountId, subject, from: row.status, to, ...why }, now)
    return changed
  }

  const addExcess = async (
    tx: SqlQueries,
    row: Authorization,
    { attention, amountCents, now }: { attention: Attention; amountCents: number; now: EpochMs },
  ): Promise<Authorization> => {
    if (amountCents === 0) return row
    const excessCents = row.excessCents + amountCents
    // The row has the sum of both kinds of excess; its events distinguish them.
    const event = { cause: 'excess', detail: attention, amountCents, keep: true, now }
    return change(tx, row, { attention, excessCents }, event)
  }

  /** Moves money out of the hold, unless the amount is 0. */
  const moveHeld = async (
    tx: SqlQueries,
    { accountId, id }: Authorization,
    to: { readonly part: 'clear' | 'free'; readonly credit: string; readonly amountCents: number },
    entry: TransactionEntry,
    now: EpochMs,
  ): Promise<void> => {
    const { part, credit, amountCents } = to
    if (amountCents === 0) return
    const debit: Debit = { debit: ledgerAccounts.held(accountId, 'cards'), cover: { exempt: 'held_before' } }
    const transfer = { ...debit, id: `${id}:${part}`, credit, amountCents, cause: `card_${part}` }
    const result = await money.move(tx, transfer, [entry], now)
    if (result !== 'done') throw new Error(`${id} holds money, but its transfer ${part} was ${result}`)
  }

  return {
    async clear(tx, row, amountCents, now) {
      const attention = 'cleared_beyond_hold'
      if (!mayMove('clear', row.status)) return addExcess(tx, row, { attention, amountCents, now })
      const clearedCents = Math.min(amountCents, row.amountCents)
      await endHolds(services, tx, row, clearedCents)
      const entry = entryOf(row, 'completed', clearedCents)
      const merchant = systemAccounts.cards(row.issuer)
      await moveHeld(tx, row, { part: 'clear', credit: merchant, amountCents: clearedCents }, entry, now)
      const rest = { credit: ledgerAccounts.user(row.accountId), amountCents: row.amountCents - clearedCents }
      await moveHeld(tx, row, { part: 'free', ...rest }, entry, now)
      const event = { cause: 'cleared', amountCents: clearedCents, now }
      const cleared = await change(tx, row, { status: 'cleared', clearedCents }, event)
      return addExcess(tx, cleared, { attention, amountCents: amountCents - clearedCents, now })
    },
    async reverse(tx, row, cause, now) {
      if (!mayMove('reverse', row.status)) return row
      await endHolds(services, tx, row, 0)
      const { accountId, amountCents } = row
      const rest = { part: 'free', credit: ledgerAccounts.user(accountId), amountCents } as const
      await moveHeld(tx, row, rest, entryOf(row, 'reversed', amountCents), now)
      const declineReason = cause === 'unavailable' ? cause : null
      return change(tx, row, { status: 'reversed', declineReason }, { cause, amountCents, now })
    },
    async refund(tx, row, { id: refundId, amountCents }, now) {
      const attention = 'refunded_beyond_cleared'
      if (!mayMove('refund', row.status)) return addExcess(tx, row, { attention, amountCents, now })
      const refunded = Math.min(amountCents, row.clearedCents - row.refundedCents)
      if (refunded === 0) return addExcess(tx, row, { attention, amountCents, now })
      const transfer = {
        id: `${row.id}:refund:${refundId}`,
        debit: systemAccounts.cards(row.issuer),
        credit: ledgerAccounts.user(row.accountId),
        amountCents: refunded,
        cause: 'card_refund',
      }
      const source = { kind: 'authorization', id: row.id, part: `refund:${refundId}` }
      const entry = { ...entryOf(row, 'completed', refunded), source, description: 'Card refund' }
      const result = await money.move(tx, transfer, [{ ...entry, direction: 'credit' }], now)
      // An outside account can go below zero, so any other result means that this refund was booked before.
      if (result !== 'done') return row
      const event = { cause: 'refunded', amountCents: refunded, now }
      const changed = await change(tx, row, { refundedCents: row.refundedCents + refunded }, event)
      return addExcess(tx, changed, { attention, amountCents: amountCents - refunded, now })
    },
  }
}

/** Makes the transaction row of an authorization. */
export function entryOf(
  {
    id,
    accountId,
    cardId,
    merchant,
    currency,
  }: Pick<Authorization, 'id' | 'accountId' | 'cardId' | 'merchant' | 'currency'>,
  status: TransactionEntry['status'],
  amountCents: number,
): TransactionEntry {
  return {
    accountId,
    source: { kind: 'authorization', id },
    type: 'spend',
    status,
    amountCents,
    direction: 'debit',
    cardId,
    merchant,
    description: currency === 'USD' ? 'Card payment' : `Card payment in ${currency}`,
  }
}
