import type { Clock, EpochMs } from '@gatewright/kernel'
import type { SqlClient, SqlQueries } from '@gatewright/kernel/sql'
import { OperatorWarning, type Sealer } from '@gatewright/host/internal'
import { Webhook } from 'standardwebhooks'
import type { DeliveryOutcome } from '../../product/metrics.ts'
import { endpoints, type Endpoint, type EndpointNote } from './endpoints.ts'
import { readPlaces, START, writePlaces, type Places } from './places.ts'
import { publishedEvents } from './published-events.ts'
import { retries, RETRY_PAUSES_MS, type Retry } from './retries.ts'
import type { AttemptResult, Send } from './send.ts'
import { signedHeaders } from './signed-headers.ts'

/** The services of a delivery. */
export interface DeliveryServices {
  readonly db: SqlClient
  readonly clock: Clock
  readonly sealer: Sealer
  readonly send: Send
  readonly report: (error: unknown) => void
  readonly count: (outcome: DeliveryOutcome) => void
}

/** An event to send, with its attempts until now, and where it came from. */
interface Pending extends Retry {
  /** Its lane and place; undefined for a retry. */
  readonly place?: { readonly lane: number; readonly position: number }
}

/** An event that was sent. */
interface Attempted extends AttemptResult {
  readonly event: Pending
}

/** How many events of one endpoint are under way at the same time. */
const AT_ONCE = 4
/** Most events that are sent before their outcome is stored. If the host is killed, as many are sent again. */
const BATCH = 50
/** How many failures in a row end the turn of an endpoint. */
const MAX_FAILURES = 4
/** How long one turn of an endpoint lasts, in ms; with its last attempt it ends within the lease. */
const TURN_MS = 10_000
/** When an endpoint without events is looked at again, unless events are published for it before. */
const IDLE_MS = 600_000
/** The shortest and the longest pause of an endpoint that fails. Between, it is a quarter of the time since it began to fail. */
const PAUSE_MS = { least: 5000, most: 300_000 }
/** For how long an endpoint may fail before it is disabled, in ms: 3 days. */
export const MAX_FAILING_MS = 3 * 86_400_000

/** Sends an endpoint that this host has leased its events, retries first, until none is due, it fails, or its turn is over. */
export async function deliverTo(
  services: DeliveryServices,
  leased: Endpoint,
  signal: AbortSignal,
): Promise<void> {
  const { db, clock } = services
  const endAt = performance.now() + TURN_MS
  let endpoint = leased
  for (;;) {
    const batch = await pendingOf(db, endpoint, clock.now())
    if (batch.length === 0 || signal.aborted || performance.now() > endAt) {
      const nextAt = batch.length === 0 ? await retries.nextAt(db, endpoint) : clock.now()
      return endpoints.release(db, endpoint, nextAt ?? clock.now() + IDLE_MS)
    }
    const attempted = await attemptAll(services, endpoint, batch, { signal, endAt })
    if (attempted.length === 0) return endpoints.release(db, endpoint, clock.now())
    const note = noteOf(endpoint, attempted, clock.now())
    const stored = await db.transaction(async tx => {
      if (!(await endpoints.note(tx, endpoint, note, clock.now()))) return false
      await storeOutcomes(tx, attempted, { note, now: clock.now(), count: services.count })
      return true
    })
    if (!stored) return
    endpoint = { ...endpoint, ...note }
    if (note.disabledFor !== null) return services.report(disabledWarning(endpoint))
    const pauseMs = pauseOf(endpoint, attempted, clock.now())
    if (pauseMs > 0) return endpoints.pause(db, endpoint, clock.now() + pauseMs)
  }
}

/** Returns the next events of an endpoint: up to half a batch of due retries, then events that were not sent yet. */
async function pendingOf(db: SqlQueries, endpoint: Endpoint, now: EpochMs): Promise<Pending[]> {
  const due = await retries.due(db, endpoint, BATCH / 2, now)
  const fresh = await publishedEvents.after(db, endpoint.recipientId, placesOf(endpoint), BATCH - due.length)
  const first = { endpointId: endpoint.id, attempts: 0, firstAt: now, dueAt: now, lastResult: null }
  return [
    ...due,
    ...fresh.events.map(({ recipientId, eventId, body, lane, position }) => ({
      ...first,
      recipientId,
      eventId,
      body,
      place: { lane, position },
    })),
  ]
}

const placesOf = ({ sentTo }: Endpoint): Places => readPlaces(sentTo) ?? START

/**
 * Sends events in their order, `AT_ONCE` at a time. Those that were sent are the first ones of the batch: the rest is left when the endpoint
 * is gone, asks to wait, or fails too often in a row.
 */
async function attemptAll(
  { clock, sealer, send }: DeliveryServices,
  endpoint: Endpoint,
  batch: readonly Pending[],
  { signal, endAt }: { readonly signal: AbortSignal; readonly endAt: number },
): Promise<Attempted[]> {
  const signers = endpoints.secretsOf(sealer, endpoint, clock.now()).map(secret => new Webhook(secret))
  const attempted: Attempted[] = []
  let [next, failures, stop] = [0, 0, false]
  const sendNext = async (): Promise<void> => {
    while (next < batch.length && !stop && !signal.aborted && performance.now() <= endAt) {
      const index = next++
      const event = batch[index] as Pending
      const headers = signedHeaders(signers, event, clock.now())
      const result = await send({ url: endpoint.url, headers, body: event.body }, signal)
      // An attempt that the end of this host has cut off counts neither way: it is made again.
      if (signal.aborted && !result.ok) return
      attempted[index] = { ...result, event }
      failures = result.ok ? 0 : failures + 1
      if (failures >= MAX_FAILURES || result.result === GONE || result.retryAfterMs !== undefined) stop = true
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, sendNext))
  const cut = attempted.findIndex(each => each === undefined)
  return cut === -1 ? attempted : attempted.slice(0, cut)
}

const GONE = '410'

/** Works out what attempts say about their endpoint. */
function noteOf(endpoint: Endpoint, attempted: readonly Attempted[], now: EpochMs): EndpointNote {
  const places = [...placesOf(endpoint)]
  for (const { event } of attempted) if (event.place) places[event.place.lane] = event.place.position
  const last = attempted.at(-1) as Attempted
  const firstAt = attempted.some(({ ok }) => ok) ? now : (endpoint.failingSince ?? now)
  const failingSince = last.ok ? null : firstAt
  const gone = attempted.some(({ result }) => result === GONE)
  const failing = failingSince !== null && now - failingSince >= MAX_FAILING_MS
  return {
    sentTo: writePlaces(places),
    lastAt: now,
    lastResult: last.result,
    failingSince,
    disabledFor: gone ? 'gone' : failing ? 'failing' : null,
  }
}

/** Stores which events are to be sent again, and when. */
async function storeOutcomes(
  tx: SqlQueries,
  attempted: readonly Attempted[],
  {
    note,
    now,
    count,
  }: {
    readonly note: EndpointNote
    readonly now: EpochMs
    readonly count: (outcome: DeliveryOutcome) => void
  },
): Promise<void> {
  for (const { ok, result, retryAfterMs = 0, event } of attempted) {
    const { place, ...retry } = event
    const attempts = retry.attempts + 1
    const pauseMs = RETRY_PAUSES_MS[attempts - 1]
    // While the endpoint is disabled its events wait for an operator, however often they were sent.
    const givenUp = pauseMs === undefined && note.disabledFor === null
    count(ok ? 'delivered' : givenUp ? 'given_up' : 'failed')
    if (ok || givenUp) {
      if (!place) await retries.end(tx, retry)
      continue
    }
    const dueAt = now + Math.max(pauseMs ?? 0, retryAfterMs)
    await retries.put(tx, { ...retry, attempts, dueAt, lastResult: result })
  }
}

/** How long an endpoint gets no events: what it asked for, or longer the longer it fails. 0: it works. */
function pauseOf({ failingSince }: Endpoint, attempted: readonly Attempted[], now: EpochMs): number {
  const asked = Math.max(0, ...attempted.map(({ retryAfterMs = 0 }) => retryAfterMs))
  if (failingSince === null) return asked
  const failing = Math.min(Math.max((now - failingSince) / 4, PAUSE_MS.least), PAUSE_MS.most)
  return Math.max(asked, Math.ceil(failing))
}

function disabledWarning({ id, recipientId, disabledFor, lastResult }: Endpoint): OperatorWarning {
  const why = disabledFor === 'gone' ? 'it responded with 410' : `it has failed for 3 days (${lastResult})`
  return new OperatorWarning(
    `webhook endpoint ${id} of ${recipientId} is disabled: ${why}. Ask its owner, then run npx gatewright webhooks enable ${id}`,
  )
}
