import { newId } from '@gatewright/host'
import { randomBytes } from 'node:crypto'
import type { EpochMs } from '@gatewright/kernel'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { rowLock, takesDue, toInteger } from '@gatewright/kernel/internal/sql'
import { type Sealer } from '@gatewright/host/internal'
import {
  defaulted,
  hostTable,
  instant,
  integer,
  nullable,
  oneOf,
  text,
  type Row,
} from '@gatewright/host/tables'
import type { EndpointState } from '../../product/metrics.ts'
import { sealedColumns } from '../../product/sealed-columns.ts'
import { writePlaces } from './places.ts'

const endpointTable = hostTable('gw_webhook_endpoints', {
  id: text,
  /** A partner, or `OPERATOR`. */
  recipientId: text,
  url: text,
  secret: text,
  previousSecret: nullable(text),
  previousUntil: nullable(instant),
  /** Why no events are sent; null while they are. */
  disabledFor: nullable(oneOf<DisabledFor>()),
  sentTo: text,
  dueAt: instant,
  notBefore: defaulted(instant),
  leases: defaulted(integer),
  lastAt: nullable(instant),
  /** The status of the last response, or why there was none. */
  lastResult: nullable(text),
  failingSince: nullable(instant),
  createdAt: instant,
})
/** Why no events are sent to an endpoint: an operator said so, it responded with 410, or it failed for too long. */
type DisabledFor = 'operator' | 'gone' | 'failing'
/** Where the events of a recipient are sent. */
export type Endpoint = Row<typeof endpointTable>

/** Returns the state of an endpoint. */
export function stateOf({ disabledFor, failingSince }: Endpoint): EndpointState {
  if (disabledFor !== null) return 'disabled'
  return failingSince === null ? 'working' : 'failing'
}

/** What came of some attempts of the host that has leased an endpoint. */
export interface EndpointNote {
  readonly sentTo: string
  readonly lastAt: EpochMs
  readonly lastResult: string
  readonly failingSince: EpochMs | null
  readonly disabledFor: DisabledFor | null
}

/** Most endpoints of a recipient. */
export const MAX_ENDPOINTS = 5
/** For how long the secret before a rotation also signs, in ms. */
const OVERLAP_MS = 86_400_000
/** For how long a host has an endpoint for itself after each note, in ms. An attempt takes at most 15 seconds. */
const LEASE_MS = 60_000
const SECRET_BYTES = 32
const { purpose: SECRET } = sealedColumns.webhookSecret

const newSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`

/** Whether the endpoint is still leased by the host that has these leases. */
const LEASED = 'id = $1 and leases = $2'
const WAKE = `update gw_webhook_endpoints set due_at = $2 where id = $1 and due_at > $2`
const RELEASE = `update gw_webhook_endpoints set not_before = 0, due_at = case when due_at < not_before then due_at else $3 end
  where ${LEASED} returning id`
const PAUSE = `update gw_webhook_endpoints set not_before = $3, due_at = $3 where ${LEASED} returning id`
const NOTE = `update gw_webhook_endpoints set sent_to = $3, last_at = $4, last_result = $5, failing_since = $6, disabled_for = $7,
  not_before = $8, due_at = $8 where ${LEASED} returning id`

/** The endpoints of all recipients. */
export const endpoints = {
  list: (db: SqlQueries): Promise<Endpoint[]> =>
    endpointTable.select(db, 'order by recipient_id, created_at, id', []),
  async find(db: SqlQueries, id: string): Promise<Endpoint | undefined> {
    const [found] = await endpointTable.select(db, 'where id = $1', [id])
    return found
  },
  /**
   * Adds an endpoint, which gets the events that are published from now on. Returns its secret, which is not shown again. Undefined: the
   * recipient has `MAX_ENDPOINTS` already; of simultaneous calls no more succeed.
   */
  async add(
    tx: SqlQueries,
    sealer: Sealer,
    { recipientId, url }: Pick<Endpoint, 'recipientId' | 'url'>,
    now: EpochMs,
  ): Promise<{ readonly id: string; readonly secret: string } | undefined> {
    const lanes = await rows(
      tx,
      `select lane, position from gw_event_lanes order by lane${rowLock(tx, 'for update')}`,
    )
    const count = await rows(tx, 'select count(*) as n from gw_webhook_endpoints where recipient_id = $1', [
      recipientId,
    ])
    if (toInteger(count[0]?.['n']) >= MAX_ENDPOINTS) return undefined
    const [id, secret] = [newId('we'), newSecret()]
    await endpointTable.insert(tx, {
      id,
      recipientId,
      url,
      secret: sealer.seal(SECRET, id, secret),
      sentTo: writePlaces(lanes.map(row => toInteger(row['position']))),
      dueAt: now,
      createdAt: now,
    })
    return { id, secret }
  },
  /** Gives an endpoint a new secret and returns it. The secret before it also signs for 24 hours. */
  async rotate(db: SqlQueries, sealer: Sealer, id: string, now: EpochMs): Promise<string> {
    const secret = newSecret()
    const text = `update gw_webhook_endpoints set previous_secret = secret, previous_until = $2, secret = $3 where id = $1 returning id`
    await rows(db, text, [id, now + OVERLAP_MS, sealer.seal(SECRET, id, secret)])
    return secret
  },
  /** Returns the secrets that sign now, the newest first. */
  secretsOf(sealer: Sealer, { id, secret, previousSecret, previousUntil }: Endpoint, now: EpochMs): string[] {
    const previous = previousSecret !== null && previousUntil !== null && now < previousUntil
    return [secret, ...(previous ? [previousSecret] : [])].map(sealed => sealer.open(SECRET, id, sealed))
  },
  /** Stops sending. Events that are being sent meanwhile may arrive again after `enable`. */
  async disable(db: SqlQueries, id: string): Promise<void> {
    const text = `update gw_webhook_endpoints set disabled_for = 'operator', leases = leases + 1 where id = $1 returning id`
    await rows(db, text, [id])
  },
  /** Sends again from where the endpoint was disabled. Events that wait for another attempt get all their attempts again. */
  async enable(tx: SqlQueries, id: string, now: EpochMs): Promise<void> {
    const again =
      'update gw_webhook_retries set attempts = 0, first_at = $2, due_at = $2 where endpoint_id = $1 returning 1'
    await rows(tx, again, [id, now])
    const text = `update gw_webhook_endpoints set disabled_for = null, failing_since = null, due_at = $2, not_before = 0,
      leases = leases + 1 where id = $1 returning id`
    await rows(tx, text, [id, now])
  },
  /** Makes the endpoints of recipients due, one by one, so that two hosts do not wait for each other. */
  async wake(db: SqlQueries, recipients: ReadonlySet<string>, now: EpochMs): Promise<void> {
    const places = [...recipients].map((_, index) => `$${index + 2}`).join(', ')
    const text = `where disabled_for is null and due_at > $1 and recipient_id in (${places})`
    for (const { id } of await endpointTable.select(db, text, [now, ...recipients]))
      await rows(db, WAKE, [id, now])
  },
  /** Leases up to `limit` endpoints that are due, none of the recipients `except`: no other host sends to them meanwhile. */
  async lease(
    db: SqlClient,
    { limit, except }: { readonly limit: number; readonly except: readonly string[] },
    now: EpochMs,
  ): Promise<Endpoint[]> {
    const others = except.map((_, index) => ` and recipient_id <> $${index + 4}`).join('')
    const due = `disabled_for is null and due_at <= $1 and not_before <= $1${others}`
    const taken = await takesDue(db, {
      table: 'gw_webhook_endpoints',
      key: 'id',
      due,
      order: 'due_at',
      limit: '$2',
    })
    const text = `update gw_webhook_endpoints set leases = leases + 1, not_before = $3, due_at = $3
      where ${taken} returning ${endpointTable.columns}`
    return (await rows(db, text, [now, limit, now + LEASE_MS, ...except])).map(endpointTable.read)
  },
  /** Stores what came of attempts, and extends the lease. False: another host has leased the endpoint, or an operator changed it. */
  async note(tx: SqlQueries, { id, leases }: Endpoint, note: EndpointNote, now: EpochMs): Promise<boolean> {
    const { sentTo, lastAt, lastResult, failingSince, disabledFor } = note
    const values = [id, leases, sentTo, lastAt, lastResult, failingSince, disabledFor, now + LEASE_MS]
    return (await rows(tx, NOTE, values)).length > 0
  },
  /** Ends a lease. The endpoint is due at `dueAt`, or at once if events were published for it meanwhile. */
  async release(db: SqlQueries, { id, leases }: Endpoint, dueAt: EpochMs): Promise<void> {
    await rows(db, RELEASE, [id, leases, dueAt])
  },
  /** Ends a lease. Nobody sends before `until`. */
  async pause(db: SqlQueries, { id, leases }: Endpoint, until: EpochMs): Promise<void> {
    await rows(db, PAUSE, [id, leases, until])
  },
}
