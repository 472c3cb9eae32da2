// A payment processor times out after it has paid. The repeat must not pay again, and should not stay unknown: `recover` asks the
// processor by the effect id, which was its idempotency key.
import type { AddressInfo } from 'node:net'
import express from 'express'
import { gatewright } from 'gatewright/express'
import { testGateway, testProcessor, testSession } from 'gatewright/testing'
import { z } from 'zod'

const processor = testProcessor<{ amountCents: number }>()
const gateway = testGateway({
  issuer: 'https://auth.example/',
  audience: 'https://payments.example',
  idempotency: {
    async recover({ effectId }) {
      console.log('  recover asks the processor')
      const receipt = processor.paid.find(each => each.idempotencyKey === effectId)
      // Not found is not "never happened" for a processor that may still be working on it.
      if (!receipt) return { state: 'unknown' }
      const body = JSON.stringify({ id: receipt.id })
      return {
        state: 'completed',
        response: { status: 201, headers: [['content-type', 'application/json']], body },
      }
    },
  },
})
const gw = gatewright(gateway.options)
const pay = gw.write(
  'payments.create',
  { scope: 'payments.write', body: z.object({ amountCents: z.number().int().positive() }) },
  async ({ body, effectId }) => {
    const { id } = await processor.pay(body, { idempotencyKey: effectId })
    return { status: 201, body: { id } }
  },
)
const server = express().post('/payments', pay).listen(0, '127.0.0.1')
await new Promise(resolve => server.once('listening', resolve))
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/payments`
const token = await gateway.token(testSession({ accountId: 'ann', scopes: ['payments.write'] }))

async function send(title: string): Promise<void> {
  console.log(title)
  const reply = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': 'order-0001',
    },
    body: JSON.stringify({ amountCents: 2_500 }),
  })
  console.log(`  ${reply.status}, ${processor.paid.length} paid`)
}

processor.timeOutNext()
await send('Pay 25 USD; the processor pays, and its response is lost')
await send('The same request again')
await send('And again: the stored response')
server.close()
