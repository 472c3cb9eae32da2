import type { AddressInfo } from 'node:net'
import { koaGate } from '@gatewright/http/koa'
import Router from '@koa/router'
import Koa from 'koa'
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

const app = new Koa()
const router = new Router()

// The one line. `stream`: it reads bodies itself, so no body parser is mounted before it.
const gw = koaGate(api, { body: 'stream' })

app.use(gw.aliases) // old paths, before the router
router.get('/v1/plans', gw.handle(plans, showPlans))
router.get(
  '/v1/cards',
  gw.handle(listCards, ({ session }) => ({ status: 200, body: ownCards(session.accountId) })),
)
router.post('/v1/cards', gw.handle(createCard, create))

// An existing handler: guarded, and what it leaves in `ctx.body` is captured for repeats.
router.post('/v1/orders', gw.guard(createOrder), ctx => {
  const { session } = gw.call(createOrder, ctx)
  const { body } = ctx.request as { body?: unknown }
  ctx.status = 201
  ctx.body = { order: body, owner: session.accountId }
})
app.use(router.routes())

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  void announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
