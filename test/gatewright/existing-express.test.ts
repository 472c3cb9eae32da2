import express, { type ErrorRequestHandler } from 'express'
import { gatewright, keepRawBody } from 'gatewright/express'
import t from 'tap'
import { createWorld, listening } from './world.ts'

/** An error that a team's own error middleware turns into a response. */
class HttpError extends Error {
  readonly status: number
  constructor(status: number) {
    super(`status ${status}`)
    this.status = status
  }
}

const sendStatus: ErrorRequestHandler = (error: unknown, _request, response, _next) => {
  response.status(error instanceof HttpError ? error.status : 500).json({ error: 'own' })
}

t.test('protects an app whose body parser runs first and whose handler throws a declared status', async t => {
  const { options, processor, token } = createWorld()
  const gw = gatewright({ ...options, body: 'kept' })
  const create = gw.protectWrite('payments.create', { scope: 'payments.write', noEffectStatuses: [422] })
  const app = express().use(express.json({ verify: keepRawBody }))
  const read = gw.protectRead('payments.read', { scope: 'payments.read' })
  // The types of \`body\` and \`params\` stay as they were without the middleware.
  app.get('/payments/:id', read, (request, response) => void response.json({ id: request.params.id.trim() }))
  app.post('/payments', create, async (request, response) => {
    if (request.body.amountCents > 5000) throw new HttpError(422)
    await processor.pay(request.body.amountCents, create.accepted(request).effectId)
    response.status(201).json({ paid: request.body.amountCents })
  })
  app.use(sendStatus)
  const { url, close } = await listening(app.listen(0, '127.0.0.1'))
  t.teardown(close)
  const authorization = `Bearer ${await token('payments.write')}`
  const pay = async (amountCents: number): Promise<Response> =>
    fetch(`${url}/payments`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', 'idempotency-key': 'payment-0001' },
      body: JSON.stringify({ amountCents }),
    })

  const refused = await pay(9000)
  t.equal(refused.status, 422)
  t.same(await refused.json(), { error: 'own' })
  t.equal((await pay(2500)).status, 201, 'the key is free')
  const repeated = await pay(2500)
  t.equal(repeated.status, 201)
  t.equal(repeated.headers.get('idempotency-replayed'), 'true')
  t.equal(processor.calls.length, 1)
})
