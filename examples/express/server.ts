import type { AddressInfo } from 'node:net'
import { expressGate } from '@gatewright/http/express'
import express from 'express'
import {
  announce,
  api,
  create,
  createCard,
  createOrder,
  listCards,
  ownCards,
  plans,
  showPlans,
} from '../support/operations.ts'

const app = express()

// The one line. `stream`: it reads bodies itself, so no body parser is mounted before it.
const gw = expressGate(api, { body: 'stream' })

app.use(gw.aliases) // old paths, before the router
app.get('/v1/plans', gw.handle(plans, showPlans))
app.get(
  '/v1/cards',
  gw.handle(listCards, ({ session }) => ({ status: 200, body: ownCards(session.accountId) })),
)
app.post('/v1/cards', gw.handle(createCard, create))

// An existing handler: guarded, and what it sends is captured for repeats.
app.post('/v1/orders', gw.guard(createOrder), (request, response) => {
  const { session } = gw.call(createOrder, request)
  response.status(201).json({ order: request.body, owner: session.accountId })
})

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  void announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
