import { fetchGate } from '@gatewright/http/fetch'
import { serve, type Http2Bindings, type HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
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

// The one line. `clone`: existing handlers can still read the request. `peer`: a Request does not hold the address.
const gw = fetchGate(api, {
  body: 'clone',
  peer: (_request, env: HttpBindings | Http2Bindings) => env.incoming.socket.remoteAddress,
})

const app = new Hono<{ Bindings: HttpBindings | Http2Bindings }>()
const served = {
  plans: gw.handle(plans, showPlans),
  list: gw.handle(listCards, ({ session }) => ({ status: 200, body: ownCards(session.accountId) })),
  create: gw.handle(createCard, create),
}
app.get('/v1/plans', c => served.plans(c.req.raw, c.env))
app.get('/v1/cards', c => served.list(c.req.raw, c.env))
app.post('/v1/cards', c => served.create(c.req.raw, c.env))

// An existing handler: guarded, and its response is captured for repeats.
app.post('/v1/orders', gw.guard(createOrder), async c => {
  const { session } = gw.call(createOrder, c.req.raw)
  return c.json({ order: await c.req.json(), owner: session.accountId }, 201)
})

// Old paths, before the router: around the whole application.
const port = Number(process.env['PORT'] ?? 3000)
serve({ fetch: gw.aliases(app.fetch), port, hostname: '127.0.0.1' }, info => {
  void announce(`http://127.0.0.1:${info.port}`)
})
