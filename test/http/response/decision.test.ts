import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gate, type Decision } from '@gatewright/http'
import { expressGate } from '@gatewright/http/express'
import { fastifyGate } from '@gatewright/http/fastify'
import { fetchGate } from '@gatewright/http/fetch'
import { koaGate } from '@gatewright/http/koa'
import { Router } from '@koa/router'
import express from 'express'
import Fastify from 'fastify'
import Koa from 'koa'
import t, { type Test } from 'tap'
import { runNode } from '../../harness/node.ts'

/** An open operation, and the decision events of its gate. */
function setUp() {
  const decisions: Decision[] = []
  const api = gate({ observe: decision => decisions.push(decision) })
  return { api, decisions, cards: api.open('cards.read') }
}

async function get(t: Test, server: Server, path: string): Promise<void> {
  server.listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  t.teardown(() => server.close())
  t.teardown(() => server.closeAllConnections())
  await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)
}

t.test(
  'the decision event has the pattern that the router matched, and never an id from the path',
  async t => {
    const response = () => ({ status: 200 })
    const { api, decisions, cards } = setUp()
    const app = express()
    app.get('/cards/:id', expressGate(api, { body: 'stream' }).handle(cards, response))
    await get(t, createServer(app as RequestListener), '/cards/7')

    const router = new Router()
    router.get('/cards/:id', koaGate(api, { body: 'stream' }).handle(cards, response) as never)
    await get(t, createServer(new Koa().use(router.routes()).callback()), '/cards/7')

    const fastify = Fastify()
    const bound = fastifyGate(api, { body: 'parsed' })
    await fastify.register(bound.plugin as never)
    fastify.route({ method: 'GET', url: '/cards/:id', ...(bound.handle(cards, response) as object) } as never)
    t.teardown(() => fastify.close())
    await fastify.inject('/cards/7')

    t.same(
      decisions.map(({ operation, route }) => [operation, route]),
      Array.from({ length: 3 }, () => ['cards.read', '/cards/:id']),
    )
    const { handle } = fetchGate(api, { body: 'stream', peer: 'none' })
    await handle(cards, response)(new Request('http://api.test/cards/7'), undefined)
    t.equal(decisions.at(-1)?.route, undefined, 'a fetch handler has no router')
  },
)

t.test('the cause of a denial is printed once, with and without NODE_ENV', async t => {
  const script = `
    import { gate } from '@gatewright/http'
    import { fetchGate } from '@gatewright/http/fetch'
    import { createGuard, localKeys } from '@gatewright/scope-guard'
    import { scopeCatalogue } from '@gatewright/kernel'
    const guard = createGuard({ issuer: 'https://i.test', audience: 'https://a.test', keys: localKeys({ keys: [] }) })
    const api = gate({ guard, scopes: scopeCatalogue(['a.b']) })
    const { handle } = fetchGate(api, { body: 'stream', peer: 'none' })
    const serve = handle(api.guarded({ operation: 'cards.list', allOf: [] }), () => ({ status: 200 }))
    for (const token of ['x.y.z', 'x.y.z'])
      await serve(new Request('http://a.test/', { headers: { authorization: 'Bearer ' + token } }), undefined)
  `
  const { NODE_ENV: _, ...env } = process.env
  for (const environment of [{}, { NODE_ENV: 'production' }, { NODE_ENV: 'development' }]) {
    const { output } = await runNode(['--input-type=module', '-e', script], { ...env, ...environment })
    const lines = output.split('\n').filter(line => line.startsWith('gatewright:'))
    t.equal(lines.length, 1)
    t.match(lines[0], /^gatewright: cards\.list got 401 unauthorized: .+ \(logged once\)$/)
  }
})
