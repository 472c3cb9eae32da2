import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { testGateway, testProcessor, testSession } from 'gatewright/testing'
import { createApp, options } from './app.ts'

const ann = testSession({ accountId: 'ann', scopes: ['payments.write'] })

/** A server of its own for each test. */
function start() {
  const gateway = testGateway(options)
  const processor = testProcessor()
  const server = createApp(gateway.options, processor.pay).listen(0)
  const { port } = server.address() as AddressInfo
  return {
    gateway,
    processor,
    async pay(key: string, amountCents: number, token = gateway.token(ann)): Promise<Response> {
      const headers = {
        authorization: `Bearer ${await token}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      }
      const body = JSON.stringify({ amountCents })
      return fetch(`http://127.0.0.1:${port}/payments`, { method: 'POST', headers, body })
    },
    [Symbol.dispose]: () => server.close(),
  }
}

test('pays once, however often the request is repeated', async () => {
  using server = start()
  const responses = await Promise.all([1, 2, 3].map(() => server.pay('order-0001', 2500)))
  assert.ok(responses.every(({ status }) => status === 201 || status === 409))
  assert.equal((await server.pay('order-0001', 2500)).headers.get('idempotency-replayed'), 'true')
  assert.equal(server.processor.paid.length, 1)
})

test('never pays again after a time-out', async () => {
  using server = start()
  server.processor.timeOutNext()
  assert.equal((await server.pay('order-0001', 2500)).status, 500)
  assert.equal((await server.pay('order-0001', 2500)).status, 503)
  assert.equal(server.processor.paid.length, 1)
})

test('pays when the request is repeated after a refused connection', async () => {
  using server = start()
  server.processor.failNext()
  assert.equal((await server.pay('order-0001', 2500)).status, 500)
  assert.equal((await server.pay('order-0001', 2500)).status, 201)
  assert.equal(server.processor.paid.length, 1)
})

test('gives back the amount of a declined payment, and keeps the daily cap', async () => {
  using server = start()
  server.processor.declineNext()
  assert.equal((await server.pay('order-0001', 10_000)).status, 402)
  assert.equal((await server.pay('order-0002', 10_000)).status, 201)
  assert.equal((await server.pay('order-0003', 1)).status, 403)
  server.gateway.clock.advance(24 * 60 * 60 * 1000)
  assert.equal((await server.pay('order-0003', 1)).status, 201)
})

test('denies callers without the scope, expired tokens and those of other issuers', async () => {
  using server = start()
  const { gateway } = server
  const reader = testSession({ scopes: ['payments.read'] })
  assert.equal((await server.pay('order-0001', 1, gateway.token(reader))).status, 403)
  assert.equal((await server.pay('order-0001', 1, testGateway(options).token(ann))).status, 401)
  const token = await gateway.token(ann)
  gateway.clock.advance(ann.lifetimeSeconds * 1000)
  assert.equal((await server.pay('order-0001', 1, Promise.resolve(token))).status, 401)
  assert.equal(server.processor.requests, 0)
})
