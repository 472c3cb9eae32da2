import { together } from '@gatewright/kernel/internal/sql'
import type { SqlQueries } from '@gatewright/kernel/sql'
import { events, transactions } from '@gatewright/host'
import { addObject } from '../../../product/provider-objects.ts'
import { isAccountLocked } from '../../onboarding/requirements.ts'
import type { SpendHold } from '@gatewright/scope-guard'
import type { AuthorizationRequest, CardAtNow, DeclineCause } from './decide.ts'
import { endings, entryOf, type AuthorizationEndings } from './endings.ts'
import { holdMoney } from './hold-money.ts'
import {
  authorizationIncrements,
  type AuthorizationIncrements,
  type IncrementServices,
} from './increments.ts'
import { authorizationTable, type Authorization } from './store.ts'
import type { HistoryEntry } from './wire.ts'
import { cards } from '../store.ts'

/** The services that authorizations use. */
interface AuthorizationServices extends Omit<IncrementServices, 'count'> {
  /** Counts a decision: `authorized` or `incremented`, or `declined` or `increment_declined` with its reason. */
  readonly count: (
    outcome: 'authorized' | 'declined' | 'incremented' | 'increment_declined',
    reason: string,
  ) => void
}

/**
 * The functions that change authorizations, for card networks, simulations and the operator. Each function changes row, caps,
 * money, transaction and history in the caller's transaction, and takes locks in the order card or authorization, caps, ledger.
 */
export interface Authorizations extends AuthorizationEndings, AuthorizationIncrements {
  /**
   * Decides about a payment with a locked card. An id that was decided before keeps its decision. A declined payment leaves
   * only its own row, transaction and event. They are sent in the round trip of the next statement or of the commit.
   */
  authorize(tx: SqlQueries, at: CardAtNow, request: AuthorizationRequest): Promise<DecidedAuthorization>
}

/** A payment that was decided. */
interface DecidedAuthorization {
  readonly row: Authorization
  /** Its history, if it was decided now. Undefined: it was decided before, and more may have happened since. */
  readonly history: readonly HistoryEntry[] | undefined
}

/** The row of a payment that was just decided: with its hold, or why it was declined. */
function decidedRow(
  { card, now }: CardAtNow,
  { id, amountCents, currency, merchant, attempt }: AuthorizationRequest,
  result: SpendHold | DeclineCause,
): Authorization & { readonly status: 'authorized' | 'declined' } {
  const declined = 'reason' in result ? result : undefined
  return {
    id,
    accountId: card.accountId,
    cardId: card.id,
    issuer: card.issuer,
    status: declined ? 'declined' : 'authorized',
    amountCents,
    currency,
    merchant,
    incrementedCents: 0,
    heldCents: declined ? 0 : amountCents,
    clearedCents: 0,
    refundedCents: 0,
    excessCents: 0,
    attention: null,
    createdAt: now,
    declineReason: declined?.reason ?? null,
    declineRule: declined?.rule ?? null,
    hold: 'reason' in result ? null : result,
    attempts: attempt ? [attempt] : [],
  }
}

/** Makes the authorizations of a host. */
export function authorizations(services: AuthorizationServices): Authorizations {
  const { count } = services

  return {
    ...endings(services),
    ...authorizationIncrements(services),
    async authorize(tx, at, request) {
      const { card, now } = at
      const { id, amountCents, currency } = request
      const { accountId } = card
      const [known, accountLocked] = await together(
        tx,
        on => authorizationTable.find(on, accountId, id),
        on => isAccountLocked(on, accountId),
      )
      if (known) return { row: known, history: undefined }
      const keyId = card.keyLineage?.lineageId ?? null
      const entry = { ...entryOf({ ...request, accountId, cardId: card.id }, 'pending', amountCents), keyId }
      const ofAccount = { ...at, isAccountLocked: accountLocked }
      const result = await holdMoney(services, tx, ofAccount, { amount: request, entry })
      const declined = 'reason' in result ? result : undefined
      const row = decidedRow(at, request, result)
      const { status } = row
      await authorizationTable.add(tx, row)
      await addObject(tx, 'authorization', row)
      // Events and transactions are in US cents. A payment in another currency is declined, whatever its amount.
      const cents = currency === 'USD' ? amountCents : 0
      if (declined) await transactions.write(tx, { ...entryOf(row, 'declined', cents), keyId }, now)
      const cause = declined?.reason ?? 'requested'
      const change = { from: null, to: status, cause, amountCents: currency === 'USD' ? amountCents : null }
      await events.record(tx, { accountId, subject: { kind: 'authorization', id }, ...change }, now)
      // An account check comes before the payment for which the card was made.
      if (!declined && amountCents > 0 && card.autoCancelAfterAuth)
        await cards.cancelCard(tx, card, 'auto', now)
      count(status, declined?.reason ?? '')
      return { row, history: [{ ...change, at: now }] }
    },
  }
}
