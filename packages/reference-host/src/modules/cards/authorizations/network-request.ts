import type { EpochMs } from '@gatewright/kernel'
import type { SqlClient, SqlQueries } from '@gatewright/kernel/sql'
import type { CardKeyPolicies } from '../key-policies.ts'
import {
  responseInTime,
  writeInTime,
  withAttempt,
  type Attempt,
  type NetworkResponse,
} from './response-in-time.ts'
import { conflictOf, declineConflict } from './conflicts.ts'
import { cardPolicies, type AuthorizationRequest } from './decide.ts'
import type { Authorizations } from './service.ts'
import { anyAuthorization, authorizationTable, lockAuthorizationId, type Authorization } from './store.ts'
import { cards } from '../store.ts'

/** The services of events of card networks. */
export interface NetworkServices {
  readonly db: SqlClient
  readonly cardKeyPolicies: CardKeyPolicies
  readonly authorizations: Authorizations
  /** Applies events about a payment that arrived before its request. Resolves to whether there were any. */
  readonly applyKept: (
    tx: SqlQueries,
    object: { readonly provider: string; readonly objectId: string },
    now: EpochMs,
  ) => Promise<boolean>
  /** Called with conflicts, and with errors of work that continues after the response. */
  readonly report: (error: unknown) => void
}

/** A payment that a card network requests. */
interface NetworkRequest extends AuthorizationRequest {
  readonly provider: string
  /** The network's id of the payment. */
  readonly networkId: string
  readonly cardId: string
  readonly now: EpochMs
}

/**
 * Decides about a payment in time. An id that was decided before keeps its decision; with another amount, currency or card it
 * is a conflict, which is declined and marked for the operator. Of simultaneous requests with one id, the first is decided. Events about
 * the payment that arrived before are applied after the decision. Undefined: this provider has no such card.
 */
export function decideInTime(
  services: NetworkServices,
  request: NetworkRequest,
): Promise<NetworkResponse | undefined> {
  return responseInTime(
    {
      authorizationId: request.id,
      decide: attempt => decideRequest(services, request, attempt),
      undo: attempt => undoRequest(services, request, attempt),
    },
    services.report,
  )
}

function decisionOf({ id, status, declineReason }: Authorization): NetworkResponse['decision'] {
  // Nothing is held after a reversal: a merchant that relied on the approval would not be paid.
  const reason = declineReason ?? (status === 'reversed' ? 'reversed' : null)
  return { approved: reason === null, authorizationId: id, declineReason: reason }
}

async function decideRequest(
  services: NetworkServices,
  { provider, networkId, cardId, now, ...request }: NetworkRequest,
  attempt: Attempt,
): Promise<NetworkResponse | undefined> {
  const { db, cardKeyPolicies, authorizations } = services
  const { amountCents, currency } = request
  const found = await cards.anyAccount.find(db, cardId)
  const ownCard = found?.issuer === provider ? found : undefined
  const policies = ownCard && (await cardPolicies(cardKeyPolicies, ownCard))
  return db.transaction(async tx => {
    await lockAuthorizationId(tx, request.id)
    const card = ownCard && (await cards.lock(tx, ownCard.accountId, cardId))
    // Locked, so that it cannot be undone before this response.
    const known = await anyAuthorization.lock(tx, request.id)
    return writeInTime(attempt, async (): Promise<NetworkResponse | undefined> => {
      const conflict = known && conflictOf(known.id, askedBy(known), { amountCents, currency, cardId })
      if (conflict) return declineConflict(tx, known, conflict, { report: services.report, now })
      if (known) {
        // This response may approve a decision that an earlier attempt made too late, so that attempt must not undo it.
        if (known.status === 'authorized' && known.attempts.length > 0)
          await authorizationTable.update(tx, known, { attempts: withAttempt(known.attempts, attempt) })
        return { outcome: 'repeated', decision: decisionOf(known) }
      }
      if (!card) return undefined
      const at = { card, policies, now }
      const { row } = await authorizations.authorize(tx, at, { ...request, attempt: attempt.id })
      const isChanged = await services.applyKept(tx, { provider, objectId: networkId }, now)
      const changed = isChanged ? await authorizationTable.find(tx, row.accountId, row.id) : undefined
      return { outcome: 'applied', decision: decisionOf(changed ?? row) }
    })
  })
}

/** Returns the terms of the network's first request. */
function askedBy({ amountCents, incrementedCents, currency, cardId }: Authorization) {
  return { amountCents: amountCents - incrementedCents, currency, cardId }
}

async function undoRequest(
  { db, authorizations }: NetworkServices,
  { id, cardId, now }: NetworkRequest,
  attempt: Attempt,
): Promise<void> {
  await db.transaction(async tx => {
    // The lock waits for the attempt: its commit may still be running although its time is over.
    await cards.anyAccount.lock(tx, cardId)
    const row = await anyAuthorization.lock(tx, id)
    if (!row?.attempts.includes(attempt.id)) return
    const others = row.attempts.filter(each => each !== attempt.id)
    if (others.length > 0) await authorizationTable.update(tx, row, { attempts: others })
    else await authorizations.reverse(tx, row, { cause: 'unavailable' }, now)
  })
}
