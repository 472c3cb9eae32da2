import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault, type EpochMs } from '@gatewright/kernel'
import type { SqlClient } from '@gatewright/kernel/sql'
import type { CardKeyPolicies } from '../key-policies.ts'
import type { CardStore } from '../store.ts'
import { cardPolicies, type AuthorizationRequest } from './decide.ts'
import type { Authorizations } from './service.ts'
import type { DeclineReason } from './states.ts'
import type { Authorization, AuthorizationStore } from './store.ts'

/** Within what time a card network is answered. It waits for 2 seconds; the rest is for the way. */
const DECIDED_WITHIN_MS = 1800
/** How long to wait between tries to undo what came too late: 10 minutes in all. */
const UNDO_PAUSES_MS = [1000, 5000, 30_000, 60_000, 120_000, 180_000, 204_000]

/** Most attempts that an authorization names: the latest. */
const MOST_ATTEMPTS = 20

/** What the events of card networks work with. */
export interface NetworkServices {
  readonly db: SqlClient
  readonly cards: CardStore
  readonly cardKeyPolicies: CardKeyPolicies
  readonly authorizations: Authorizations
  readonly store: AuthorizationStore
  /** Where failures go of work that nobody waits for any more. */
  readonly report: (error: unknown) => void
}

/** A payment that a card network asks for. */
interface NetworkRequest extends AuthorizationRequest {
  readonly provider: string
  readonly cardId: string
  readonly now: EpochMs
}

/** The answer to a card network. */
export interface NetworkAnswer {
  /** `unavailable`: the database was down or late. */
  readonly outcome: 'applied' | 'repeated' | 'unavailable'
  readonly decision: {
    readonly approved: boolean
    readonly authorizationId: string
    /** `reversed`: it was approved before, and the network or the operator has reversed it. */
    readonly declineReason: DeclineReason | 'reversed' | null
  }
}

/** How far a decision is. */
interface Attempt {
  readonly id: string
  /** Whether the network was answered already. */
  late: boolean
  /** Whether this attempt makes the authorization, and does not repeat another. */
  isFirst: boolean
  /** Whether it wrote something that may be committed. */
  mayBeStored: boolean
}

/** Thrown in a transaction to roll it back: the network was told that its payment is not approved. */
class TooLate extends Error {}

/**
 * Decides about a payment in time. If the database is down or late the payment is not approved, and what comes of the decision
 * afterwards is undone. Undefined: this provider has no such card.
 */
export async function decideInTime(
  services: NetworkServices,
  request: NetworkRequest,
): Promise<NetworkAnswer | undefined> {
  const attempt: Attempt = { id: randomUUID(), late: false, isFirst: false, mayBeStored: false }
  const timer = new AbortController()
  const timeUp = sleep(DECIDED_WITHIN_MS, 'late' as const, { signal: timer.signal }).catch(
    () => 'late' as const,
  )
  const deciding = decideRequest(services, request, attempt)
  const decided = deciding.catch((error: unknown) => {
    if (error instanceof Fault) return 'late' as const
    throw error
  })
  const row = await Promise.race([decided, timeUp]).finally(() => timer.abort())
  if (row === undefined) return undefined
  if (row !== 'late') return { outcome: attempt.isFirst ? 'applied' : 'repeated', decision: decisionOf(row) }
  attempt.late = true
  void undo(services, request, attempt, deciding).catch(services.report)
  return {
    outcome: 'unavailable',
    decision: { approved: false, authorizationId: request.id, declineReason: 'unavailable' },
  }
}

function decisionOf({ id, status, declineReason }: Authorization): NetworkAnswer['decision'] {
  // Nothing is held after a reversal: a merchant that relied on the approval would not be paid.
  const reason = declineReason ?? (status === 'reversed' ? 'reversed' : null)
  return { approved: reason === null, authorizationId: id, declineReason: reason }
}

async function decideRequest(
  { db, cards, cardKeyPolicies, store, authorizations }: NetworkServices,
  { provider, cardId, now, ...request }: NetworkRequest,
  attempt: Attempt,
): Promise<Authorization | undefined> {
  const found = await cards.findById(db, cardId)
  if (found?.issuer !== provider) return undefined
  const policies = await cardPolicies(cardKeyPolicies, found)
  return db.transaction(async tx => {
    const card = await cards.lockById(tx, cardId)
    if (!card) return undefined
    // Locked, so that it is not undone while it is told.
    const known = await store.lockById(tx, request.id)
    attempt.isFirst = !known
    attempt.mayBeStored = true
    // The network may be told now what an attempt before was too late for: that one must not undo it.
    if (known?.status === 'authorized' && known.attempts.length > 0)
      await store.setAttempts(tx, known.id, [...known.attempts, attempt.id].slice(-MOST_ATTEMPTS))
    const row =
      known ??
      (await authorizations.authorize(tx, { card, policies, now }, { ...request, attempt: attempt.id }))
    if (attempt.late) {
      attempt.mayBeStored = false
      throw new TooLate()
    }
    return row
  })
}

/**
 * Reverses an authorization that this attempt made or repeated although the network was told otherwise, such as by a commit whose
 * answer was lost. Not if another attempt may have told that it is approved. While the database is away it is tried again.
 */
async function undo(
  { db, cards, store, authorizations, report }: NetworkServices,
  { id, cardId, now }: NetworkRequest,
  attempt: Attempt,
  deciding: Promise<unknown>,
): Promise<void> {
  await deciding.catch(() => {})
  // While the database is down, each request would try for 10 minutes to undo nothing.
  if (!attempt.mayBeStored) return
  const reverse = (): Promise<void> =>
    db.transaction(async tx => {
      // Waits for the attempt itself, whose commit can still be under way although its time is up.
      await cards.lockById(tx, cardId)
      const row = await store.lockById(tx, id)
      if (!row?.attempts.includes(attempt.id)) return
      const others = row.attempts.filter(each => each !== attempt.id)
      if (others.length > 0) return store.setAttempts(tx, id, others)
      await authorizations.reverse(tx, row, 'unavailable', now)
    })
  for (const pauseMs of UNDO_PAUSES_MS) {
    try {
      return await reverse()
    } catch (error) {
      report(error)
      await sleep(pauseMs, undefined, { ref: false })
    }
  }
  await reverse()
}
