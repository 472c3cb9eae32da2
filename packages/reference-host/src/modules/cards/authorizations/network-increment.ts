import type { EpochMs } from '@gatewright/kernel'
import {
  responseInTime,
  writeInTime,
  withAttempt,
  type Attempt,
  type NetworkResponse,
} from './response-in-time.ts'
import { conflictOf, declineConflict } from './conflicts.ts'
import { cardPolicies } from './decide.ts'
import { anyIncrement, incrementTable, type Increment } from './increment-store.ts'
import type { IncrementRequest } from './increments.ts'
import type { NetworkServices } from './network-request.ts'
import { anyAuthorization, authorizationTable, lockAuthorizationId, type Authorization } from './store.ts'
import { cards } from '../store.ts'

/** An increment that a card network requests. */
interface NetworkIncrement extends Omit<IncrementRequest, 'attempt'> {
  readonly authorizationId: string
  readonly now: EpochMs
}

/**
 * Decides about an increment in time. An id that was decided before keeps its decision. With another amount, currency or
 * authorization it is a conflict, as for an authorization. Undefined: this provider has no such authorization.
 */
export function decideIncrementInTime(
  services: NetworkServices,
  request: NetworkIncrement,
): Promise<NetworkResponse | undefined> {
  return responseInTime(
    {
      authorizationId: request.authorizationId,
      decide: attempt => decideIncrement(services, request, attempt),
      undo: attempt => undoIncrement(services, request, attempt),
    },
    services.report,
  )
}

function decisionOf(row: Authorization, { declineReason }: Increment): NetworkResponse['decision'] {
  // As for an authorization: after a reversal nothing is held.
  const reason = declineReason ?? (row.status === 'reversed' ? 'reversed' : null)
  return { approved: reason === null, authorizationId: row.id, declineReason: reason }
}

async function decideIncrement(
  services: NetworkServices,
  { authorizationId, now, ...request }: NetworkIncrement,
  attempt: Attempt,
): Promise<NetworkResponse | undefined> {
  const { db, cardKeyPolicies, authorizations } = services
  const { id, amountCents, currency } = request
  const found = await anyAuthorization.find(db, authorizationId)
  const ownCard = found && (await cards.find(db, found.accountId, found.cardId))
  if (!ownCard) return undefined
  const policies = await cardPolicies(cardKeyPolicies, ownCard)
  return db.transaction(async tx => {
    await lockAuthorizationId(tx, id)
    const card = await cards.lock(tx, ownCard.accountId, ownCard.id)
    const row = await authorizationTable.lock(tx, ownCard.accountId, authorizationId)
    if (!card || !row) return undefined
    // The provider may repeat the id under an authorization of another account.
    const known = await anyIncrement.find(tx, id)
    return writeInTime(attempt, async (): Promise<NetworkResponse> => {
      const conflict = known && conflictOf(id, askedBy(known), { amountCents, currency, authorizationId })
      if (conflict) return declineConflict(tx, row, conflict, { report: services.report, now })
      if (known) {
        if (known.declineReason === null && row.status === 'authorized')
          await incrementTable.update(tx, known, { attempts: withAttempt(known.attempts, attempt) })
        return { outcome: 'repeated', decision: decisionOf(row, known) }
      }
      const at = { card, policies, now }
      const made = await authorizations.increment(tx, at, row, { ...request, attempt: attempt.id })
      return { outcome: 'applied', decision: decisionOf(row, made) }
    })
  })
}

/** Returns the terms of the network's first request. */
function askedBy({ amountCents, currency, authorizationId }: Increment) {
  return { amountCents, currency, authorizationId }
}

async function undoIncrement(
  { db, authorizations }: NetworkServices,
  { id, authorizationId, now }: NetworkIncrement,
  attempt: Attempt,
): Promise<void> {
  await db.transaction(async tx => {
    // The lock waits for the attempt, as for an authorization.
    const row = await anyAuthorization.lock(tx, authorizationId)
    const increment = row && (await incrementTable.find(tx, row.accountId, id))
    if (!row || increment?.declineReason !== null || !increment.attempts.includes(attempt.id)) return
    const attempts = increment.attempts.filter(each => each !== attempt.id)
    if (attempts.length > 0) return incrementTable.update(tx, increment, { attempts })
    await authorizations.takeBack(tx, row, increment, now)
  })
}
