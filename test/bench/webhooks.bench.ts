// Events of 50 partners with one endpoint each, on Postgres. First they are recorded and published; then one host sends them twice: while every
// endpoint responds, and while one never does. Events a second, the CPU time of the host, and when the last event of an endpoint that responds has
// arrived.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fromPgPool, rows } from '@gatewright/kernel/sql'
import { systemClock } from '@gatewright/kernel/internal'
import { internals } from '../harness/internals.ts'
import { openPostgresPool, uniqueName } from '../harness/stores.ts'
import { webhookParts } from '../harness/webhooks.ts'
import { extent } from './extent.ts'

const PARTNERS = extent(50, 3)
const EVENTS = extent(100_000, 60)
const PER_PARTNER = Math.floor(EVENTS / PARTNERS)
const RECORDERS = 16
/** The places before all events. */
const START = Array.from({ length: 16 }, () => 0).join('.')

const pool = await openPostgresPool(uniqueName(), RECORDERS)
const db = fromPgPool(pool, { prepare: true })
await internals.migrateHost(db)
await internals.createEventLanes(db)
const parts = webhookParts(db, systemClock)

/** The paths of endpoints that never respond. */
const dead = new Set<string>()
let arrived = 0
let last = 0
const ids = new Set<string>()
const server = createServer((req, res) => {
  if (dead.has(req.url ?? '')) return
  arrived += 1
  ids.add(String(req.headers['webhook-id']))
  last = performance.now()
  req.resume()
  res.writeHead(204).end()
})
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
const { port } = server.address() as AddressInfo

const insert = `insert into gw_users (id, account_id, partner_id, external_id, kyc_status, created_at)
  values ($1, $2, $3, $4, 'not_submitted', 0)`
for (let n = 0; n < PARTNERS; n += 1) {
  await rows(db, insert, [`usr_${n}`, `acc_${n}`, `ptn_${n}`, 'user-1'])
  await parts.addEndpoint(`http://127.0.0.1:${port}/${n}`, `ptn_${n}`)
}

/** Runs work, and prints how many events a second it took, and the CPU time of this process. */
async function measured(title: string, events: number, work: () => Promise<void>): Promise<void> {
  const [cpu, start] = [process.cpuUsage(), performance.now()]
  await work()
  const seconds = (performance.now() - start) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const perEvent = (user + system) / events
  console.log(`${title}: ${Math.round(events / seconds)} events/s, ${Math.round(perEvent)} us of CPU each`)
}

const total = PER_PARTNER * PARTNERS
await measured('record', total, async () => {
  let next = 0
  const recorder = async (): Promise<void> => {
    for (let n = next++; n < total; n = next++) await parts.record(`dep_${n}`, `acc_${n % PARTNERS}`)
  }
  await Promise.all(Array.from({ length: RECORDERS }, recorder))
})
await measured('publish', total, async () => void (await parts.publish()))

/** Sends all events to endpoints that have got none, and prints how it went. */
async function sendAll(title: string, expected: number): Promise<void> {
  const again = `update gw_webhook_endpoints set sent_to = $1, due_at = 0, not_before = 0, failing_since = null where true returning 1`
  await rows(db, again, [START])
  ids.clear()
  arrived = 0
  const start = performance.now()
  await measured(`send ${title}`, expected, async () => {
    const stop = new AbortController()
    const rounds = parts.deliverUntil(stop.signal)
    while (ids.size < expected) await new Promise(resolve => setTimeout(resolve, 20))
    stop.abort()
    server.closeAllConnections()
    await rounds
  })
  const seconds = ((last - start) / 1000).toFixed(1)
  console.log(
    `The last of ${expected} events arrived after ${seconds} s, ${arrived - ids.size} arrived twice`,
  )
}

await sendAll('while all endpoints respond', total)
dead.add('/0')
await sendAll('while one endpoint never responds', PER_PARTNER * (PARTNERS - 1))
server.close()
await pool.end()
