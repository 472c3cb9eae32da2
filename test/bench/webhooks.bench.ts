// Events of 50 partners, each with one endpoint of which one never responds, on Postgres. First they are recorded and published; then one host
// sends them: events a second, its CPU time, and when the last event of an endpoint that responds has arrived.
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

const pool = await openPostgresPool(uniqueName(), RECORDERS)
const db = fromPgPool(pool, { prepare: true })
await internals.migrateHost(db)
await internals.createEventLanes(db)
const parts = webhookParts(db, systemClock)

let arrived = 0
let last = 0
const ids = new Set<string>()
const server = createServer((req, res) => {
  // The first partner's endpoint never responds.
  if (req.url === '/0') return
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

const expected = PER_PARTNER * (PARTNERS - 1)
const start = performance.now()
await measured('send', expected, async () => {
  const stop = new AbortController()
  const rounds = parts.deliverUntil(stop.signal)
  while (ids.size < expected) await new Promise(resolve => setTimeout(resolve, 20))
  stop.abort()
  server.closeAllConnections()
  await rounds
})
console.log(
  `The last of ${expected} events of ${PARTNERS - 1} endpoints arrived after ${((last - start) / 1000).toFixed(1)} s, ${arrived - ids.size} arrived twice; one endpoint never responded`,
)
server.close()
await pool.end()
