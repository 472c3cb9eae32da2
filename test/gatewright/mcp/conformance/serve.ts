import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { gatewright } from 'gatewright/fetch'
import { mcp } from 'gatewright/mcp'
import { createWorld, listening, type Listening } from '../../world.ts'
import { fixtureServer } from './fixtures.ts'

/** Serves the fixtures by `handle`. The suite sends no token, so a front adds the same one to each message. */
export async function serveFixtures(): Promise<Listening> {
  const world = createWorld()
  const gw = gatewright({ ...world.options, limits: [], peer: 'none' })
  const tools = mcp(gw, { peer: 'none', sessionsInMemory: true })
  const handle = tools.handle(() => fixtureServer(tools))
  const authorization = `Bearer ${await world.token('payments.read')}`
  const serve = getRequestListener(request => {
    const headers = new Headers(request.headers)
    headers.set('authorization', authorization)
    return handle(new Request(request, { headers }), undefined)
  })
  return listening(createServer(serve).listen(0, '127.0.0.1'))
}
