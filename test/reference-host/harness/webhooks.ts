import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { events } from '@gatewright/host'
import type { Clock } from '@gatewright/kernel'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import * as internals from '../../harness/internals.ts'

/** A request that a receiver got. */
interface Received {
  readonly id: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A server that gets events. */
export interface Receiver {
  readonly url: string
  readonly received: Received[]
  /** Decides about each request. Default: 204. */
  answer: (received: Received, res: ServerResponse) => void
  close(): Promise<void>
}

/** Starts a receiver on a free port. */
export async function startReceiver(host = '127.0.0.1'): Promise<Receiver> {
  const server: Server = createServer((req: IncomingMessage, res: ServerResponse) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const headers = req.headers as Record<string, string>
      const got = { id: headers['webhook-id'] ?? '', headers, body: Buffer.concat(chunks).toString() }
      receiver.received.push(got)
      receiver.answer(got, res)
    })
  })
  await new Promise<void>(resolve => server.listen(0, host, resolve))
  const receiver: Receiver = {
    url: `http://${host}:${(server.address() as AddressInfo).port}/hook`,
    received: [],
    answer: (_, res) => void res.writeHead(204).end(),
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
  return receiver
}

/** The partner whose events tests send. */
const PARTNER = 'ptn_tested'

/** The parts of a host that publish and send events, on a database with the tables of a host. */
export function webhookParts(db: SqlClient, clock: Clock) {
  const sealer = internals.createSealer([{ id: 'k', secret: new Uint8Array(32) }])
  const reports: unknown[] = []
  const outcomes: string[] = []
  const count = (outcome: string): unknown => outcomes.push(outcome)
  const report = (error: unknown): unknown => reports.push(error)
  const { endpoints } = internals
  const publisher = internals.eventPublisher({ db, clock }, recipients =>
    endpoints.wake(db, recipients, clock.now()),
  )
  const send = internals.webhookSender({ isAllowed: () => true })
  const never = new AbortController().signal
  const deliverUntil = internals.deliveryRounds({ db, clock, sealer, send, report, count })
  return {
    sealer,
    reports,
    outcomes,
    publish: () => publisher(never),
    /** Sends what is due, and resolves when nothing is. */
    deliver: () => deliverUntil(never),
    /** The same, or until the signal aborts. */
    deliverUntil,
    addEndpoint: async (url: string, recipientId = PARTNER) => {
      const added = await db.transaction(tx => endpoints.add(tx, sealer, { recipientId, url }, clock.now()))
      if (!added) throw new Error('no further endpoint')
      return added
    },
    /** Records an event of an object of a user of `PARTNER`. */
    record: (id: string, accountId = 'acc_1') =>
      db.transaction(tx =>
        events.record(
          tx,
          { accountId, subject: { kind: 'deposit', id }, to: 'completed', cause: 'tested' },
          clock.now(),
        ),
      ),
  }
}

/** Adds an endpoint to the database of a host with these `DATA_KEYS`. Resolves to its secret. */
export async function addEndpointOf(
  db: SqlClient,
  dataKeys: string | undefined,
  target: { readonly recipientId: string; readonly url: string },
  now: number,
): Promise<string> {
  const [id = '', secret = ''] = (dataKeys ?? '').split(':')
  const sealer = internals.createSealer([{ id, secret: Buffer.from(secret, 'hex') }])
  const added = await db.transaction(tx => internals.endpoints.add(tx, sealer, target, now))
  if (!added) throw new Error('no further endpoint')
  return added.secret
}

/** Prepares a database: the lanes of events, and users of `PARTNER` with the accounts `acc_1` to `acc_N`. */
export async function prepareWebhooks(db: SqlClient, accounts = 1): Promise<void> {
  await internals.createEventLanes(db)
  const insert = `insert into gw_users (id, account_id, partner_id, external_id, kyc_status, created_at)
    values ($1, $2, $3, $4, 'not_submitted', 0)`
  for (let n = 1; n <= accounts; n += 1)
    await rows(db, insert, [`usr_${n}`, `acc_${n}`, PARTNER, `user-${n}`])
}
