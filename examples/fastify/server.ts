import { fastifyGate } from '@gatewright/http/fastify'
import Fastify from 'fastify'
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

// The one line. `kept`: its JSON parser keeps the bytes that Fastify parses.
const gw = fastifyGate(api, { body: 'kept' })

const app = Fastify({ rewriteUrl: gw.rewriteUrl }) // old paths, before the router
await app.register(gw.plugin)

app.route({ method: 'GET', url: '/v1/plans', ...gw.handle(plans, showPlans) })
app.route({
  method: 'GET',
  url: '/v1/cards',
  ...gw.handle(listCards, ({ session }) => ({ status: 200, body: ownCards(session.accountId) })),
})
app.route({ method: 'POST', url: '/v1/cards', ...gw.handle(createCard, create) })

// An existing handler: guarded, and what it sends is captured for repeats.
app.post('/v1/orders', gw.hooks(createOrder), async (request, reply) => {
  const { session } = gw.call(createOrder, request)
  return reply.code(201).send({ order: request.body, owner: session.accountId })
})

const url = await app.listen({ port: Number(process.env['PORT'] ?? 3000), host: '127.0.0.1' })
await announce(url)
