import type { EpochMs } from '@gatewright/kernel'
import type { SqlQueries } from '@gatewright/kernel/sql'
import type { SpendHold } from '@gatewright/scope-guard'
import { events } from '@gatewright/host'
import { ledgerAccounts } from '@gatewright/host/internal'
import { addObject } from '../../../product/provider-objects.ts'
import { isAccountLocked } from '../../onboarding/requirements.ts'
import type { CardAtNow, DeclineCause } from './decide.ts'
import { entryOf } from './endings.ts'
import { holdMoney, type HoldServices } from './hold-money.ts'
import { incrementTable, type Increment } from './increment-store.ts'
import { mayMove, type IncrementDeclineReason } from './states.ts'
import { authorizationTable, type Authorization } from './store.ts'

/** A request of a card network to raise the amount of an authorization. */
export interface IncrementRequest {
  readonly id: string
  readonly amountCents: number
  readonly currency: string
  /** The id of the card network's attempt that makes it. */
  readonly attempt: string
  /** Why the issuer itself declines it. */
  readonly issuerReason?: DeclineCause['reason'] | undefined
}

/** The services that raise an authorization. */
export interface IncrementServices extends HoldServices {
  readonly count: (outcome: 'incremented' | 'increment_declined', reason: string) => void
}

/**
 * The functions that change the amount of an authorization before it is cleared. Lock the card and then the authorization
 * before.
 */
export interface AuthorizationIncrements {
  /**
   * Decides about an increment as about a new payment, under the limit of the card, all caps and the balance. A limit on one
   * payment and a cap on one operation bind the whole authorization. An approved increment raises the amount and the hold. A
   * declined one leaves only its own row and an event. Its id must be new.
   */
  increment(tx: SqlQueries, at: CardAtNow, row: Authorization, request: IncrementRequest): Promise<Increment>
  /**
   * Returns the money that one increment holds, because the host had already responded that it could not decide. An
   * authorization without a hold is unchanged.
   */
  takeBack(tx: SqlQueries, row: Authorization, increment: Increment, now: EpochMs): Promise<void>
}

function record(
  tx: SqlQueries,
  { id, accountId, status }: Authorization,
  event: { readonly cause: string; readonly amountCents: number; readonly detail: string | null },
  now: EpochMs,
): Promise<void> {
  const subject = { kind: 'authorization', id }
  return events.record(tx, { accountId, subject, from: status, to: status, ...event }, now)
}

/** Makes the functions that raise authorizations. */
export function authorizationIncrements(services: IncrementServices): AuthorizationIncrements {
  const { guard, spendStorage, money, count } = services

  /** Holds the money of an increment, if its authorization is still open. */
  const hold = async (
    tx: SqlQueries,
    at: CardAtNow,
    row: Authorization,
    { id, amountCents, currency, issuerReason }: IncrementRequest,
  ): Promise<SpendHold | { readonly reason: IncrementDeclineReason; readonly rule?: string }> => {
    if (!mayMove('increment', row.status)) return { reason: 'authorization_not_open' }
    const { merchant } = row
    const heldCents = row.heldCents + row.clearedCents
    const amount = { id, amountCents, currency, merchant, issuerReason, heldCents }
    const ofAccount = { ...at, isAccountLocked: await isAccountLocked(tx, row.accountId) }
    const entry = entryOf(row, 'pending', heldCents + amountCents)
    return holdMoney(services, tx, ofAccount, { amount, entry })
  }

  return {
    async increment(tx, at, row, request) {
      const { id, amountCents, currency, attempt } = request
      const result = await hold(tx, at, row, request)
      const declined = 'reason' in result ? result : undefined
      const increment = await incrementTable.insert(tx, {
        id,
        authorizationId: row.id,
        accountId: row.accountId,
        cardId: row.cardId,
        amountCents,
        currency,
        countedCents: declined ? 0 : amountCents,
        declineReason: declined?.reason ?? null,
        declineRule: declined?.rule ?? null,
        hold: 'reason' in result ? null : result,
        createdAt: at.now,
        attempts: [attempt],
      })
      if (!increment) throw new Error(`increment ${id} exists already`)
      await addObject(tx, 'increment', increment)
      if (!declined)
        await authorizationTable.update(tx, row, {
          amountCents: row.amountCents + amountCents,
          incrementedCents: row.incrementedCents + amountCents,
          heldCents: row.heldCents + amountCents,
        })
      const outcome = declined ? 'increment_declined' : 'incremented'
      const detail = declined?.reason ?? null
      // Events are in US cents.
      await record(
        tx,
        row,
        { cause: outcome, amountCents: currency === 'USD' ? amountCents : 0, detail },
        at.now,
      )
      count(outcome, detail ?? '')
      return increment
    },
    async takeBack(tx, row, increment, now) {
      if (!mayMove('increment', row.status)) return
      const { id, amountCents } = increment
      if (increment.hold?.held) await guard.release(increment.hold, spendStorage(tx))
      // Of what it added, the network may have cleared or reversed a part since.
      const freedCents = Math.min(amountCents, row.heldCents)
      const heldCents = row.heldCents - freedCents
      const transfer = {
        id: `${id}:free`,
        debit: ledgerAccounts.held(row.accountId, 'cards'),
        cover: { exempt: 'held_before' } as const,
        credit: ledgerAccounts.user(row.accountId),
        amountCents: freedCents,
        cause: 'card_free',
      }
      const entry = entryOf(row, 'pending', heldCents + row.clearedCents)
      const result = freedCents === 0 ? 'done' : await money.move(tx, transfer, [entry], now)
      if (result !== 'done') throw new Error(`${id} holds money, but its transfer free was ${result}`)
      await incrementTable.update(tx, increment, {
        countedCents: 0,
        declineReason: 'unavailable',
        attempts: [],
      })
      const changed = await authorizationTable.update(tx, row, {
        amountCents: row.amountCents - amountCents,
        incrementedCents: row.incrementedCents - amountCents,
        heldCents,
      })
      await record(tx, changed, { cause: 'increment_declined', amountCents, detail: 'unavailable' }, now)
    },
  }
}
