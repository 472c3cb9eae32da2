import type { EpochMs } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import { type Money, events, transactions, type NewEvent, type TransactionEntry } from '@gatewright/host'
import { type Debit, ledgerAccounts } from '@gatewright/host/internal'
import { systemAccounts } from '../../../product/system-accounts.ts'
import { endHolds, shareCounted, type CapServices } from './end-holds.ts'
import { movements } from './movements.ts'
import { mayMove } from './states.ts'
import { authorizationTable, type Attention, type Authorization, type AuthorizationChanges } from './store.ts'

/** The services that clearings, reversals and refunds use. */
interface EndingServices extends CapServices {
  readonly money: Money
}

/** Money that a merchant collects. Each id of an authorization is debited once, ever. */
interface Clearing {
  readonly id: string
  readonly amountCents: number
  /** False: further clearings may follow, so the rest stays held. */
  readonly final: boolean
}

/** Money that a merchant gives up. */
type Reversal =
  | {
      readonly cause: 'reversed'
      readonly id: string
      /** Default: all that is held. */
      readonly amountCents?: number | undefined
    }
  /** All that is held. `unavailable`: the host had already responded that it could not decide. */
  | { readonly cause: 'operator' | 'unavailable' }

/** Money that a merchant pays back. Each id of an authorization is credited once, ever. */
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
  /** Pays the merchant up to the hold. The last clearing returns the rest. */
  clear(tx: SqlQueries, row: Authorization, clearing: Clearing, now: EpochMs): Promise<Authorization>
  /**
   * Returns a part of the hold, or all of it, which ends the authorization. What a reversal names beyond the hold is excess, unless it
   * was returned before or nothing has cleared.
   */
  reverse(tx: SqlQueries, row: Authorization, reversal: Reversal, now: EpochMs): Promise<Authorization>
  /** Credits a refund, up to what cleared and was not refunded yet. */
  refund(tx: SqlQueries, row: Authorization, refund: Refund, now: EpochMs): Promise<Authorization>
}

/** An event of an authorization. */
type AuthorizationEvent = Pick<NewEvent, 'cause' | 'detail' | 'keep'> & {
  readonly amountCents: number
  readonly now: EpochMs
}

/** One movement of money out of the hold. */
interface HeldMove {
  readonly part: string
  readonly to: 'merchant' | 'balance'
  readonly amountCents: number
}

/** Changes the row and records the event. */
async function change(
  tx: SqlQueries,
  row: Authorization,
  changes: AuthorizationChanges,
  { now, ...why }: AuthorizationEvent,
): Promise<Authorization> {
  const changed = await authorizationTable.update(tx, row, changes)
  const { accountId, id, status: to } = changed
  const subject = { kind: 'authorization', id }
  await events.record(tx, { accountId, subject, from: row.status, to, ...why }, now)
  return changed
}

async function addExcess(
  tx: SqlQueries,
  row: Authorization,
  { attention, amountCents, now }: { attention: Attention; amountCents: number; now: EpochMs },
): Promise<Authorization> {
  if (amountCents === 0) return row
  const excessCents = row.excessCents + amountCents
  // The row has the sum of all kinds of excess; its events distinguish them.
  const event = { cause: 'excess', detail: attention, amountCents, keep: true, now }
  return change(tx, row, { attention, excessCents }, event)
}

/** How much of a reversal beyond the hold is open: neither returned before, nor more than the merchant has collected. */
async function openBeyondHold(tx: SqlQueries, row: Authorization, beyondCents: number): Promise<number> {
  if (beyondCents === 0 || row.clearedCents === 0) return 0
  const returned = row.amountCents - row.heldCents - row.clearedCents
  const unclaimed = Math.max(0, returned - (await movements.reversedCents(tx, row)))
  return Math.min(Math.max(0, beyondCents - unclaimed), row.clearedCents)
}

/** Moves money out of the hold, and writes the transaction row of the authorization also if nothing moves. */
async function moveHeld(
  money: Money,
  tx: SqlQueries,
  { accountId, id, issuer }: Authorization,
  {
    moves,
    entry,
    now,
  }: { readonly moves: readonly HeldMove[]; readonly entry: TransactionEntry; readonly now: EpochMs },
): Promise<void> {
  const debit: Debit = { debit: ledgerAccounts.held(accountId, 'cards'), cover: { exempt: 'held_before' } }
  for (const { part, to, amountCents } of moves) {
    if (amountCents === 0) continue
    const toMerchant = to === 'merchant'
    const credit = toMerchant ? systemAccounts.cards(issuer) : ledgerAccounts.user(accountId)
    const cause = toMerchant ? 'card_clear' : 'card_free'
    const transfer = { ...debit, id: `${id}:${part}`, credit, amountCents, cause }
    const result = await money.move(tx, transfer, [entry], now)
    if (result !== 'done') throw new Error(`${id} holds money, but its transfer ${part} was ${result}`)
  }
  if (moves.every(({ amountCents }) => amountCents === 0)) await transactions.write(tx, entry, now)
}

/** Makes the functions that end authorizations. */
export function endings(services: EndingServices): AuthorizationEndings {
  const { money } = services

  return {
    async clear(tx, row, { id, amountCents, final }, now) {
      const attention = 'cleared_beyond_hold'
      if (!mayMove('clear', row.status)) return addExcess(tx, row, { attention, amountCents, now })
      const collected = Math.min(amountCents, row.heldCents)
      const excess = { attention, amountCents: amountCents - collected, now } as const
      if (collected === 0 && !final) return addExcess(tx, row, excess)
      const rest = final ? row.heldCents - collected : 0
      const clearedCents = row.clearedCents + collected
      const heldCents = row.heldCents - collected - rest
      if (final) await endHolds(services, tx, row, clearedCents)
      const entry = entryOf(row, final ? 'completed' : 'pending', heldCents + clearedCents)
      const moves = [
        { part: `clear:${id}`, to: 'merchant', amountCents: collected },
        { part: `rest:${id}`, to: 'balance', amountCents: rest },
      ] as const
      await moveHeld(money, tx, row, { moves, entry, now })
      const status = final ? 'cleared' : row.status
      const event = { cause: 'cleared', amountCents: collected, now }
      const cleared = await change(tx, row, { status, heldCents, clearedCents }, event)
      return addExcess(tx, cleared, excess)
    },
    async reverse(tx, row, reversal, now) {
      const { cause } = reversal
      const named = 'amountCents' in reversal ? reversal.amountCents : undefined
      const isOpen = mayMove('reverse', row.status)
      const freed = isOpen ? Math.min(named ?? row.heldCents, row.heldCents) : 0
      const excess = {
        attention: 'reversed_beyond_hold',
        amountCents: await openBeyondHold(tx, row, (named ?? freed) - freed),
        now,
      } as const
      if (!isOpen) return addExcess(tx, row, excess)
      const after = { ...row, heldCents: row.heldCents - freed }
      const { heldCents, clearedCents } = after
      const ends = heldCents === 0
      await (ends ? endHolds(services, tx, row, clearedCents) : shareCounted(tx, after))
      const status = ends ? endOf(row) : row.status
      const entry = entryAfterReversal(after, status)
      const part = 'id' in reversal ? `free:${reversal.id}` : cause
      const moves = [{ part, to: 'balance', amountCents: freed }] as const
      await moveHeld(money, tx, row, { moves, entry, now })
      const declineReason = cause === 'unavailable' ? cause : null
      const event = { cause, amountCents: freed, now }
      const changed = await change(tx, row, { status, heldCents, declineReason }, event)
      return addExcess(tx, changed, excess)
    },
    async refund(tx, row, { id: refundId, amountCents }, now) {
      const attention = 'refunded_beyond_cleared'
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

/** The status of an authorization whose whole hold was returned. */
const endOf = ({ clearedCents }: Authorization): Authorization['status'] =>
  clearedCents === 0 ? 'reversed' : 'cleared'

function entryAfterReversal(row: Authorization, status: Authorization['status']): TransactionEntry {
  // A payment of which nothing cleared is shown with what was asked for.
  if (status === 'reversed') return entryOf(row, 'reversed', row.amountCents)
  return entryOf(row, status === 'cleared' ? 'completed' : 'pending', row.heldCents + row.clearedCents)
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
