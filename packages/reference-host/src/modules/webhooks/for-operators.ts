import type { EpochMs } from '@gatewright/kernel'
import type { SqlClient, SqlQueries } from '@gatewright/kernel/sql'
import { isoOrNull, operatorActions } from '@gatewright/host/internal'
import { endpoints, stateOf, type Endpoint } from './endpoints.ts'
import { publishedEvents } from './published-events.ts'
import { retries, type Retry } from './retries.ts'

/** Records what an operator did, in the transaction of its change. */
export const recordAction = (tx: SqlQueries, command: string, detail: string, at: EpochMs): Promise<void> =>
  operatorActions.record(tx, { at, command, accountId: '', detail })

/** An endpoint in the output for operators. */
export function describeEndpoint(endpoint: Endpoint) {
  const { id, recipientId, url, disabledFor, lastAt, lastResult, failingSince } = endpoint
  return {
    endpointId: id,
    recipientId,
    url,
    state: stateOf(endpoint),
    disabledFor,
    lastAt: isoOrNull(lastAt),
    lastResult,
    failingSince: isoOrNull(failingSince),
  }
}

/** An event that waits for another attempt, in the output for operators. */
export function describeRetry({ endpointId, eventId, attempts, dueAt, lastResult }: Retry) {
  return { endpointId, eventId, attempts, dueAt: isoOrNull(dueAt), lastResult }
}

/**
 * Sends an event again to the endpoints of its recipient, or to one of them, at their next turn. Returns their ids; undefined if no such event is
 * kept.
 */
export async function replayEvent(
  db: SqlClient,
  eventId: string,
  { endpointId, now }: { readonly endpointId?: string | undefined; readonly now: EpochMs },
): Promise<readonly string[] | undefined> {
  const event = await publishedEvents.find(db, eventId)
  if (!event) return undefined
  const { recipientId, body } = event
  const targets = (await endpoints.list(db)).filter(
    each => each.recipientId === recipientId && (endpointId === undefined || each.id === endpointId),
  )
  if (targets.length === 0) return []
  await db.transaction(async tx => {
    for (const { id } of targets) {
      const retry = { recipientId, endpointId: id, eventId, body }
      await retries.put(tx, { ...retry, attempts: 0, firstAt: now, dueAt: now, lastResult: null })
    }
    const ids = targets.map(({ id }) => id)
    await recordAction(tx, 'events replay', `${eventId} to ${ids.join(', ')}`, now)
  })
  await endpoints.wake(db, new Set([recipientId]), now)
  return targets.map(({ id }) => id)
}
