import type { SqlQueries } from '@gatewright/kernel/sql'
import type { SpendHold } from '@gatewright/scope-guard'
import { ledgerAccounts } from '../../../ledger/accounts.ts'
import type { Ledger } from '../../../ledger/ledger.ts'
import type { Money } from '../../../ledger/money.ts'
import type { TransactionStore } from '../../../ledger/transactions.ts'
import type { EventStore } from '../../../records/events.ts'
import type { CardStore } from '../store.ts'
import {
  decide,
  issuerReason,
  type AuthorizationRequest,
  type CardAtNow,
  type DecisionServices,
  type Declined,
} from './decide.ts'
import { endings, entryOf, type AuthorizationEndings } from './endings.ts'
import type { DeclineReason } from './states.ts'
import type { Authorization } from './store.ts'

/** What authorizations work with. */
export interface AuthorizationServices extends DecisionServices {
  readonly cards: CardStore
  readonly ledger: Ledger
  readonly money: Money
  readonly transactions: TransactionStore
  readonly events: EventStore
  /** Counts a decision: `authorized`, or `declined` with its reason. */
  readonly count: (outcome: 'authorized' | 'declined', reason: string) => void
}

/**
 * Everything that happens to authorizations, for card networks, simulations and the operator alike. Each function changes row, caps,
 * money, transaction and history in the caller's transaction, and takes locks in the order card or authorization, caps, ledger.
 */
export interface Authorizations extends AuthorizationEndings {
  /**
   * Decides about a payment with a locked card. An id that was decided before keeps its decision. A decline leaves nothing but its
   * own row, transaction and event.
   */
  authorize(tx: SqlQueries, at: CardAtNow, request: AuthorizationRequest): Promise<Authorization>
}

/** Makes the authorizations of a host. */
export function authorizations(services: AuthorizationServices): Authorizations {
  const { store, cards, guard, spendStorage, ledger, money, transactions, events, count } = services

  /** Moves the money into the hold. Returns why it cannot: the issuer has the last word. */
  const moveMoney = async (
    tx: SqlQueries,
    { card, now }: CardAtNow,
    request: AuthorizationRequest,
    cover: SpendHold,
  ): Promise<DeclineReason | undefined> => {
    const { id, amountCents } = request
    const { accountId } = card
    const debit = ledgerAccounts.user(accountId)
    const refused = issuerReason(card, request)
    if (refused) return (await ledger.balance(tx, debit)) < amountCents ? 'insufficient_funds' : refused
    const entry = entryOf({ ...request, accountId, cardId: card.id }, 'pending', amountCents)
    const transfer = {
      ...{ id, debit, cover, credit: ledgerAccounts.held(accountId, 'cards'), amountCents },
      cause: 'card_authorization',
    }
    const result = await money.move(tx, transfer, [entry], now)
    if (result === 'insufficient') return 'insufficient_funds'
    if (result !== 'done') throw new Error(`authorization ${id} is new, but its transfer is not: ${result}`)
    return undefined
  }

  /** Reserves and moves the money. After a refusal neither is left. */
  const hold = async (
    tx: SqlQueries,
    at: CardAtNow,
    request: AuthorizationRequest,
  ): Promise<SpendHold | Declined> => {
    const decision = await decide(services, tx, at, request)
    if ('reason' in decision) return decision
    const reason = await moveMoney(tx, at, request, decision)
    if (!reason) return decision
    if (decision.held) await guard.release(decision, spendStorage(tx))
    return { reason }
  }

  return {
    ...endings(services),
    async authorize(tx, at, request) {
      const { card, now } = at
      const { id, amountCents, currency, merchant } = request
      const { accountId, issuer } = card
      const known = await store.find(tx, accountId, id)
      if (known) return known
      const result = await hold(tx, at, request)
      const declined = 'reason' in result ? result : undefined
      const status = declined ? 'declined' : 'authorized'
      const row = await store.insert(tx, {
        ...{ id, accountId, cardId: card.id, issuer, status, amountCents, currency, merchant },
        ...{ clearedCents: 0, refundedCents: 0, excessCents: 0, attention: null, createdAt: now },
        ...{ declineReason: declined?.reason ?? null, declineRule: declined?.rule ?? null },
        ...{ hold: 'reason' in result ? null : result, attempts: request.attempt ? [request.attempt] : [] },
      })
      if (!row) throw new Error(`authorization ${id} belongs to another card`)
      // Events and transactions are in US cents. A payment in another currency is declined, whatever its amount.
      const cents = currency === 'USD' ? amountCents : 0
      if (declined) await transactions.write(tx, entryOf(row, 'declined', cents), now)
      const cause = declined?.reason ?? 'requested'
      const event = { accountId, subject: { kind: 'authorization', id }, to: status, cause }
      await events.record(tx, { ...event, amountCents: currency === 'USD' ? amountCents : null }, now)
      if (!declined && card.autoCancelAfterAuth) await cards.cancelCard(tx, card, 'auto', now)
      count(status, declined?.reason ?? '')
      return row
    },
  }
}
