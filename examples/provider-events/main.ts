// Receives events of a provider, signed by Standard Webhooks. A forged event is refused, and each event is applied once, however
// often it is delivered.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { createIdempotency, createOnce } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'

// The secret that the provider shows once, after `whsec_`.
const secret = Buffer.from('c2VjcmV0IG9mIHRoaXMgZXhhbXBsZSwgMzIgYnl0ZXM=', 'base64')
const TOLERANCE_SECONDS = 300
const once = createOnce(createIdempotency({ storage: memoryIdempotency() }))
let balanceCents = 0

const signatureOf = (id: string, at: string, body: string): string =>
  `v1,${createHmac('sha256', secret).update(`${id}.${at}.${body}`).digest('base64')}`

/** Whether the provider signed exactly these bytes, at most five minutes ago. */
function isGenuine(id: string, at: string, body: string, given: string): boolean {
  if (!/^\d{1,12}$/.test(at) || Math.abs(Date.now() / 1000 - Number(at)) > TOLERANCE_SECONDS) return false
  const expected = Buffer.from(signatureOf(id, at, body))
  return given.split(' ').some(each => {
    const bytes = Buffer.from(each)
    return bytes.length === expected.length && timingSafeEqual(bytes, expected)
  })
}

const app = express()
// The signature is over the bytes that arrived: parsed and written again, they could be others.
app.post('/events', express.raw({ type: 'application/json', limit: '64kb' }), async (request, response) => {
  const [id = '', at = '', signature = ''] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
    name => request.get(name),
  )
  const body = Buffer.isBuffer(request.body) ? request.body.toString('utf8') : ''
  if (!isGenuine(id, at, body, signature))
    return void response.status(401).json({ error: 'invalid_signature' })
  const job = { operation: 'deposits.apply', account: 'provider', key: id, payload: body }
  const outcome = await once(job, async () => {
    balanceCents += (JSON.parse(body) as { amountCents: number }).amountCents
  })
  // Anything but 2xx makes the provider deliver the event again.
  const again = outcome.state === 'running' || outcome.state === 'unknown'
  response.status(again ? 503 : outcome.state === 'conflict' ? 409 : 204).end()
})
const server = app.listen(0, '127.0.0.1')
await new Promise(resolve => server.once('listening', resolve))
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`

async function deliver(title: string, body: string, signed: string = body): Promise<void> {
  const at = String(Math.floor(Date.now() / 1000))
  const reply = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': 'msg_0001',
      'webhook-timestamp': at,
      'webhook-signature': signatureOf('msg_0001', at, signed),
    },
    body,
  })
  console.log(`${title.padEnd(22)} ${reply.status}  balance ${(balanceCents / 100).toFixed(2)} USD`)
}

const event = JSON.stringify({ type: 'deposit.completed', amountCents: 2_500 })
await deliver('A changed amount', event.replace('2500', '9900'), event)
await deliver('A deposit of 25 USD', event)
await deliver('The same event again', event)
await deliver('Another, the same id', event.replace('2500', '9900'))
server.close()
