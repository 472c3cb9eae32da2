import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expressGate } from '@gatewright/http/express'
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

// The one line. Express-style middleware is (request, response, next), which plain node http can call too.
const gw = expressGate(api, { body: 'stream' })

const guardOrder = gw.guard(createOrder)
const routes: Record<string, RequestListener> = {
  'GET /v1/plans': gw.handle(plans, showPlans),
  'GET /v1/cards': gw.handle(listCards, ({ session }) => ({
    status: 200,
    body: ownCards(session.accountId),
  })),
  'POST /v1/cards': gw.handle(createCard, create),

  // An existing handler: guarded, and what it sends is captured for repeats.
  'POST /v1/orders': (request, response) =>
    guardOrder(request, response, () => {
      const { session, json } = gw.call(createOrder, request)
      const body = json()
      response.writeHead(201, { 'Content-Type': 'application/json' })
      response.end(JSON.stringify({ order: body.ok ? body.value : null, owner: session.accountId }))
    }),
}

const server = createServer((request, response) => {
  // Old paths, before the routes.
  gw.aliases(request, response, () => {
    const route = routes[`${request.method} ${request.url?.split('?')[0]}`]
    if (route) route(request, response)
    else response.writeHead(404).end()
  })
})
server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  void announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
