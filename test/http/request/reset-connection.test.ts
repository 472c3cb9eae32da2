// A connection that the client has reset has no remote address any more.
import { once } from 'node:events'
import { createServer, request as httpRequest, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { gate, type OpenCall, type OpenGate } from '@gatewright/http'
import type { Route } from '@gatewright/http/internal'
import { expressGate } from '@gatewright/http/express'
import { fetchGate } from '@gatewright/http/fetch'
import { scopeCatalogue } from '@gatewright/kernel'
import { Hono } from 'hono'
import t, { type Test } from 'tap'
import { bench } from '../../scope-guard/issuer.ts'
import { temporaryFolder } from '../../harness/files.ts'

const handler = () => ({ status: 200 })
type Bind = (api: OpenGate, route: Route<OpenCall>) => RequestListener

const express: Bind = (api, route) => expressGate(api, { body: 'stream' }).handle(route, handler)
const honoOnNode: Bind = (api, route) => {
  const { handle } = fetchGate(api, {
    body: 'stream',
    peer: (_request, env: HttpBindings) => env.incoming.socket.remoteAddress,
  })
  const list = handle(route, handler)
  const app = new Hono<{ Bindings: HttpBindings }>()
  app.get('/', c => list(c.req.raw, c.env))
  const listener = getRequestListener((request, env) => app.fetch(request, env))
  return (request, response) => void listener(request, response)
}

/** Serves on a port or a Unix socket, with one request per address and minute. Returns a function that sends a request. */
async function serve(t: Test, path: string | undefined, isReset: boolean, bind: Bind = express) {
  const { guard, bearer } = await bench({
    limits: [{ name: 'perAddress', points: 1, windowSeconds: 60, per: 'address' }],
  })
  let report: (status: number) => void = () => undefined
  const observe = ({ status }: { readonly status: number }) => report(status)
  const api = gate({ guard, scopes: scopeCatalogue(['cards.read']), observe })
  const handle = bind(api, api.guarded({ operation: 'cards.list', allOf: ['cards.read'] }))
  const server = createServer((request, response) => {
    if (isReset) request.socket.destroy()
    handle(request, response)
  })
  if (path === undefined) server.listen(0, '127.0.0.1')
  else server.listen(path)
  await once(server, 'listening')
  t.teardown(() => server.close())
  const authorization = await bearer()
  return async (): Promise<number> => {
    const status = new Promise<number>(resolve => (report = resolve))
    const at = path === undefined ? (server.address() as AddressInfo) : { socketPath: path }
    const target = 'port' in at ? { host: '127.0.0.1', port: at.port } : at
    const client = httpRequest({ ...target, headers: { authorization }, agent: false })
    client.on('error', () => undefined)
    client.on('response', response => response.resume())
    client.end()
    return status
  }
}

for (const [name, bind] of Object.entries({ Express: express, 'Hono on Node': honoOnNode })) {
  t.test(`${name}: requests whose connection was reset share one bucket of a limit per address`, async t => {
    const send = await serve(t, undefined, true, bind)
    t.same([await send(), await send()], [200, 429])
  })
}

t.test('a limit per address does not count requests on a Unix socket', async t => {
  // The path of a Unix socket has about 100 characters at most.
  const folder = temporaryFolder(t)
  const send = await serve(t, join(folder, 'http.sock'), false)
  t.same([await send(), await send()], [200, 200])
})
